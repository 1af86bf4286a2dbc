/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_slots.h"
#include "launcher/base/notice.h"
#include "launcher/run/run_failures.h"
#include "launcher/run/task_feed.h"
#include "launcher/run/task_need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- how many ------------------------------------------------------------- */

static int is_plain(const struct run *r)
{
    return !r->o->has_needs && r->o->slots.kind == SLOTS_NUMBER
           && r->o->slots.n == 1 && r->o->slots.memory == 0 && !r->o->overlap;
}

static void write_order(const struct run *r,
                        struct writer *w,
                        uint32_t kind,
                        uint32_t n)
{
    const struct msg_slots m = {.kind = kind,
                                .n = n,
                                .beside = r->o->overlap ? 2 : 1,
                                .width = r->o->slots.width,
                                .memory = r->o->slots.memory};

    msg_write_slots(w, &m);
}

int run_slots_ask(struct run *r)
{
    size_t n = session_size(r->front.session);
    struct writer w = {0};

    if (is_plain(r))
        return slots_init(&r->slots, n, NULL) < 0 ? es_no_memory(r->err) : 0;
    r->asked.each = calloc(n, sizeof *r->asked.each);
    r->asked.memory = calloc(n, sizeof *r->asked.memory);
    r->asked.gpus = calloc(n, sizeof *r->asked.gpus);
    r->asked.awaited = calloc(n, 1);
    if (!r->asked.each || !r->asked.memory || !r->asked.gpus
        || !r->asked.awaited)
        return es_no_memory(r->err);
    r->asked.missing = session_start_size(r->front.session);
    memset(r->asked.awaited, 1, r->asked.missing);
    for (size_t i = r->asked.missing; i < n; i++)
        r->asked.each[i] = r->o->slots.n; /* a number, for who may join */
    write_order(r, &w, r->o->slots.kind, r->o->slots.n);
    session_send_all(r->front.session, MSG_SLOTS, &w);
    return 0;
}

void run_slots_again(struct run *r, size_t node)
{
    uint32_t kind = r->o->slots.kind;
    struct writer w = {0};

    if (is_plain(r) || r->slots.n == 0 || slots_of(&r->slots, node) == 0)
        return;
    if (kind == SLOTS_PART)
        kind = SLOTS_CORES; /* so many of them */
    write_order(r, &w, kind, (uint32_t)slots_of(&r->slots, node));
    session_send(r->front.session, node, MSG_SLOTS, &w);
}

/* All have answered: are there any? */
static int settle(struct run *r)
{
    size_t n = session_size(r->front.session), all = 0;

    for (size_t i = 0; i < n; i++)
        all += r->asked.each[i];
    if (all == 0)
        return es_fail(r->err, ES_ENV,
                       "see the messages above, or give another --slots",
                       "no node has any slot");
    if (slots_init(&r->slots, n, r->asked.each) < 0)
        return es_no_memory(r->err);
    return 0;
}

static int heard(struct run *r, size_t node, const struct msg_slotted *m)
{
    if (!r->asked.awaited || !r->asked.awaited[node])
        return 0;
    r->asked.awaited[node] = 0;
    r->asked.each[node] = m->n;
    r->asked.memory[node] = m->memory;
    r->asked.gpus[node] = m->gpus;
    r->asked.missing--;
    return r->asked.missing == 0 ? settle(r) : 0;
}

int run_slots_message(struct run *r,
                      size_t node,
                      const uint8_t *body,
                      size_t len)
{
    struct msg_slotted m;

    if (msg_read_slotted(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return 0;
    }
    if (m.text[0])
        notice("%s: %s", session_node(r->front.session, node)->name, m.text);
    return heard(r, node, &m);
}

int run_slots_lost(struct run *r, size_t node)
{
    return heard(r, node, &(struct msg_slotted){0});
}

/* Of the job on its i-th node, as "8(x2),4" says; 0: not known.  A site that binds
 * nothing lets a command run on more. */
static uint32_t cpus_of_job(size_t i)
{
    const char *at = getenv("SLURM_JOB_CPUS_PER_NODE");
    char *end;

    while (at && *at) {
        unsigned long cpus = strtoul(at, &end, 10), times = 1;

        if (end == at)
            return 0;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtoul(end + 2, &end, 10);
            end += *end == ')';
        }
        if (i < times)
            return (uint32_t)cpus;
        i -= times;
        at = end + (*end == ',');
    }
    return 0;
}

void run_slots_tell(const struct run *r)
{
    const char *first = NULL;
    uint32_t cpus = 0;
    size_t more = 0;
    char others[48] = "";

    if (!is_plain(r) || r->o->slots.beside || r->o->persistent || r->o->srun
        || session_is_local(r->front.session)
        || !run_account_used_one_cpu(&r->account))
        return;
    for (size_t i = 0; i < session_start_size(r->front.session); i++) {
        const struct node *node = session_node(r->front.session, i);
        uint32_t own = cpus_of_job(i);

        if (own > node->cpus)
            own = node->cpus;
        if (own > 1 && first)
            more++;
        if (own > 1 && !first) {
            first = node->name;
            cpus = own;
        }
    }
    if (!first)
        return;
    if (more > 0)
        (void)snprintf(others, sizeof others, " (likewise on %zu more node%s)",
                       more, more == 1 ? "" : "s");
    notice("%s has %u CPUs of this job, 1 was used%s: --slots cores starts a "
           "command on each core",
           first, cpus, others);
}

void run_slots_clear(struct run *r)
{
    slots_clear(&r->slots);
    needs_destroy(r->needs);
    free(r->memory);
    free(r->gpus);
    free(r->asked.each);
    free(r->asked.memory);
    free(r->asked.gpus);
    free(r->asked.awaited);
}

/* --- what holds something of each ------------------------------------------ */

static int start_meter(struct run *r)
{
    const struct run_meter_setup setup = {.session = r->front.session,
                                          .distribution = r->distribution,
                                          .determination = &r->determination,
                                          .option = &r->o->meter,
                                          .config = &r->config->power};

    return run_meter_start(&r->meter, &setup);
}

/* Is it more than any node has? */
static int check_need(void *arg,
                      const char *name,
                      const struct unit_need *need,
                      struct es_error *err)
{
    const struct run *r = arg;
    const struct unit_need *usual = &r->o->usual;
    struct unit_need has, all = *need;
    size_t slot, node;

    if (needs_can_be_met(r->needs, need, &slot))
        return 0;
    node = r->slots.node[slot];
    has = (struct unit_need){.cores = (uint32_t)slots_of(&r->slots, node),
                             .memory = r->memory[slot],
                             .gpus = r->gpus[slot]};
    if (need->line == 0) /* of all of which no line says it */
        return es_fail(
            err, ES_ENV, "give less, or nodes that have it",
            "--cpus, --mem, --gpus: no node has so much: %s, the largest, has "
            "%u cores, %ju MiB and %u GPUs for the job",
            session_node(r->front.session, node)->name, has.cores,
            (uintmax_t)(has.memory >> 20), has.gpus);
    all.cores = all.cores > 0 ? all.cores : usual->cores;
    all.memory = all.memory > 0 ? all.memory : usual->memory;
    all.gpus = all.gpus > 0 ? all.gpus : usual->gpus;
    return task_need_refuse(
        &all, name, session_node(r->front.session, node)->name, &has, err);
}

/* Lines may say what a task needs. */
static int open_needs(struct run *r)
{
    r->memory = calloc(r->slots.n, sizeof *r->memory);
    r->gpus = calloc(r->slots.n, sizeof *r->gpus);
    for (size_t i = 0; r->memory && r->gpus && i < r->slots.n; i++) {
        r->memory[i] = r->asked.memory[r->slots.node[i]];
        r->gpus[i] = r->asked.gpus[r->slots.node[i]];
    }
    if (r->memory && r->gpus)
        r->needs = needs_create(r->slots.n, r->slots.group, r->memory, r->gpus,
                                &r->o->usual, task_feed_needs(r->o->feed));
    if (!r->needs)
        return es_no_memory(r->err);
    distribution_set_needs(r->distribution, r->needs);
    if (check_need(r, "", &r->o->usual, r->err) < 0)
        return -1;
    return task_feed_check_needs(r->o->feed, check_need, r, r->err);
}

int run_slots_open(struct run *r)
{
    struct failure_rule rule;

    run_failures_rule(r->o, &rule);
    r->distribution = distribution_create(
        r->front.session, &r->slots, r->o->grain, r->o->pieces, r->o->ahead);
    if (!r->distribution
        || distribution_set_types(r->distribution, r->o->types.n) < 0
        || determination_init(&r->determination, r->slots.n) < 0
        || (r->o->overlap && distribution_set_overlap(r->distribution) < 0)
        || start_meter(r) < 0)
        return es_no_memory(r->err);
    distribution_set_failure_rule(r->distribution, &rule);
    if (r->o->speculate)
        distribution_set_speculation(r->distribution);
    return r->o->has_needs ? open_needs(r) : 0;
}

/* --- the adjuster --------------------------------------------------------- */

/* The nodes by another profile than that of the command line; if that cannot
 * be, they are as by that one.  0, or -1: no memory. */
static int rank_type(const struct run *r, size_t type, struct metric metric[])
{
    const struct qualification *q = &r->qualification;
    const struct config_profile *p = &r->o->types.type[type].profile;
    double(*counted)[ELEMENTS] = calloc(q->n, sizeof *counted);

    if (!counted)
        return -1;
    memcpy(counted, q->measured, q->n * sizeof *counted);
    if (rank_by_rank(r->config->probe.rank_by, counted, &p->profile, metric,
                     q->known)
        == 0)
        for (size_t i = q->known; i < q->n; i++)
            metric[i] = metric[0];
    else
        notice("warning: work %s: no node could be measured in what the "
               "profile %s counts: it begins as by %s",
               r->o->types.type[type].name, p->name, r->profile.name);
    free(counted);
    return 0;
}

/* One a slot; NULL and r->err: no memory. */
static struct metric *metrics(struct run *r, size_t type)
{
    const struct qualification *q = &r->qualification;
    struct metric *m = calloc(r->slots.n, sizeof *m);
    struct metric *each = calloc(q->n, sizeof *each);
    int rc = m && each ? 0 : -1;

    if (rc == 0)
        memcpy(each, q->metric, q->n * sizeof *each);
    if (rc == 0 && type > 0)
        rc = rank_type(r, type, each);
    if (rc == 0) {
        slots_metrics(&r->slots, each, m);
    } else {
        (void)es_no_memory(r->err);
        free(m);
        m = NULL;
    }
    free(each);
    return m;
}

static int rank(struct run *r, size_t type)
{
    const struct work_type *t = &r->o->types.type[type];
    struct metric *m = metrics(r, type);
    int rc = -1;

    if (m)
        rank_by_elements(r->type[type].elements, m, &t->profile.profile,
                         r->slots.n);
    if (m)
        rc = job_load_adjuster_init(&r->adjuster[type], t->policy.kind,
                                    t->policy.value, m, &t->profile.profile,
                                    r->slots.n, r->err);
    free(m);
    return rc;
}

int run_slots_rank(struct run *r)
{
    for (size_t t = 0; t < r->o->types.n; t++)
        if (rank(r, t) < 0)
            return -1;
    return 0;
}

static int join(struct run *r, size_t node, size_t type)
{
    const size_t *first = r->slots.first;
    struct metric *m = metrics(r, type);
    int rc = m ? 0 : -1;

    for (size_t i = first[node]; i < first[node + 1] && rc == 0; i++)
        rc = job_load_adjuster_join(&r->adjuster[type], i, m, r->err);
    free(m);
    return rc;
}

int run_slots_join(struct run *r, size_t node)
{
    for (size_t t = 0; t < r->o->types.n; t++)
        if (join(r, node, t) < 0)
            return -1;
    return 0;
}

void run_slots_threads(struct run *r, size_t node)
{
    const size_t *first = r->slots.first;
    uint32_t advised = run_power_threads(&r->power, node);
    uint32_t cpus =
        advised > 0 ? advised : session_node(r->front.session, node)->cpus;
    uint32_t n = (uint32_t)slots_of(&r->slots, node);

    for (size_t i = first[node]; i < first[node + 1]; i++)
        for (size_t t = 0; t < r->o->types.n; t++)
            job_load_adjuster_threads(&r->adjuster[t], i,
                                      cpus > n ? cpus / n : cpus > 0);
}
