/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_opening.h"
#include "launcher/base/notice.h"
#include "launcher/graph/graph_fault.h"
#include "launcher/graph/graph_recover.h"
#include "launcher/graph/graph_running.h"
#include "launcher/graph/graph_stage_in.h"
#include "launcher/session/mailing.h"
#include "launcher/session/scontrol.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- graph release ------------------------------------------------------------- */

/* Nodes that a plan has no use for: they are named before the
 * run, and with --release Slurm gets them back. */

#define NAMES_MAX  65536 /* bytes of a list of nodes */
#define SHOWN_MAX  400   /* of those that are named to people */
#define NOTICE_CUT 8     /* names */

/* Where this process stands, as a batch script does, cannot be given back. */
static int is_own_host(const struct graph_running *r, uint32_t node)
{
    const char *host = getenv("SLURMD_NODENAME");

    return host && strcmp(host, graph_node_name(r, node)) == 0;
}

/* Names of nodes whose keep[] is so, with commas; how many there are. */
static uint32_t list(const struct graph_running *r,
                     const uint8_t keep[],
                     int so,
                     char *names,
                     size_t size,
                     uint32_t most)
{
    uint32_t n = 0;
    size_t len = 0;

    names[0] = '\0';
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        if (keep[i] != so)
            continue;
        if (n++ < most && len < size)
            len += (size_t)snprintf(names + len, size - len, "%s%s",
                                    len ? "," : "", graph_node_name(r, i));
    }
    if (n > most && len < size)
        (void)snprintf(names + len, size - len, " and others");
    return n;
}

/* Slurm is told which nodes the job keeps.  0, or -1. */
static int give_back(const struct graph_running *r)
{
    static char word[] = "update";
    char id[32], *names = malloc(NAMES_MAX), *text = malloc(NAMES_MAX + 16);
    char *words[] = {word, id, text, NULL};
    uint32_t job, step;
    int rc = -1;

    session_job(r->front.session, &job, &step);
    snprintf(id, sizeof id, "jobid=%" PRIu32, job);
    if (names && text && job > 0) {
        (void)list(r, r->released, 0, names, NAMES_MAX, r->state.nodes);
        snprintf(text, NAMES_MAX + 16, "NodeList=%s", names);
        if (strlen(names) < NAMES_MAX - 1)
            rc = scontrol_run(words, NULL, 0, SCONTROL_S);
    }
    free(names);
    free(text);
    return rc;
}

/* The agents there have cleaned up.  Slurm ends them; they are not lost. */
static void on_time(evutil_socket_t none, short events, void *arg)
{
    struct graph_running *r = arg;
    char names[SHOWN_MAX];

    (void)none;
    (void)events;
    if (r->phase != RUNNING)
        return; /* it is over: the job may end anyway */
    (void)list(r, r->released, 1, names, sizeof names, NOTICE_CUT);
    graph_progress_stop(&r->progress);
    if (give_back(r) < 0) {
        notice("--release: Slurm does not take %s back", names);
        return;
    }
    notice("%s: given back to Slurm", names);
}

/* What has no more to it than its type, to all of them. */
static void tell_released(struct graph_running *r, enum protocol_type type)
{
    struct mailing m;

    mailing_begin(&m, r->front.session, type, MAILING_FEW);
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        struct writer w = {0};

        if (r->released[i])
            mailing_add(&m, i, &w);
    }
    mailing_send(&m);
    mailing_clear(&m);
}

/* They get nothing to do any more, remove their folders and leave. */
static void retire(struct graph_running *r, const uint8_t keep[])
{
    static const struct timeval soon = {1, 0};

    for (uint32_t i = 0; i < r->state.nodes; i++)
        if (!keep[i]) {
            r->released[i] = 1;
            r->state.usable[i] = 0;
        }
    tell_released(r, (enum protocol_type)(MSG_GRAPH + GRAPH_MSG_CLOSE));
    tell_released(r, MSG_LEAVE);
    if (event_base_once(r->front.base, -1, EV_TIMEOUT, on_time, r, &soon) < 0)
        notice("--release: out of memory: the job keeps all nodes");
}

/* Before any task is sent: r->state has the places of the plan. */
static void graph_release(struct graph_running *r)
{
    uint8_t *keep = calloc(r->state.nodes, 1);
    char names[SHOWN_MAX];
    uint32_t unused = 0, used = 0;

    for (uint32_t i = 0; keep && i < r->state.places; i++)
        keep[r->state.place[i].node] = 1;
    for (uint32_t i = 0; keep && i < r->state.nodes; i++) {
        keep[i] |= r->o->release && is_own_host(r, i);
        used += keep[i];
    }
    if (keep && used > 0)
        unused = list(r, keep, 0, names, sizeof names, NOTICE_CUT);
    if (unused > 0 && r->o->release)
        retire(r, keep);
    else if (unused > 0)
        notice(
            "the plan has no use for %s: -N %u is enough, or --release gives "
            "%s back",
            names, used, unused == 1 ? "it" : "them");
    free(keep);
}

/* --- the plan ------------------------------------------------------------- */

static int describe_nodes(struct graph_running *r)
{
    for (uint32_t i = 0; i < r->state.nodes; i++)
        if (r->kind[i].cores > r->machine.cores)
            r->machine.cores = r->kind[i].cores;
    r->machine.kind = r->kind;
    return graph_speeds_settle(&r->speeds, r->o, r->own_cores, r->kind,
                               r->state.nodes, r->err);
}

static int make_plan(struct graph_running *r, struct graph_plan *p)
{
    struct graph_plan_wish wish = r->o->plan;
    enum graph_plan_fault fault;

    wish.machine = r->machine;
    fault = graph_plan_init(p, r->f->graph, &wish);
    if (fault != GRAPH_PLAN_SOUND)
        return graph_fault_tell(fault, p, &wish, r->f, r->err);
    r->planned = p->candidate[p->chosen].sum;
    /* Nobody is told of being late for what nobody asked for. */
    r->deadline = wish.is_default ? GRAPH_PLAN_FOREVER : p->deadline;
    graph_fault_tell_default(p, &wish);
    if (p->deadline_met)
        return 0;
    es_fail(r->err, ES_WORK, "give more time, nodes or cores",
            "the deadline of %g s cannot be met on %u nodes of %u cores: the "
            "fastest plan takes %g s",
            (double)p->deadline / GRAPH_NS_PER_S, r->machine.processors,
            r->machine.cores, (double)r->planned.makespan / GRAPH_NS_PER_S);
    graph_plan_clear(p);
    return -1;
}

/* What starts first is sent first. */
static int by_start(const void *a, const void *b)
{
    const struct instance *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->processor != y->processor)
        return x->processor < y->processor ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

static int place_plan(struct graph_running *r, const struct graph_plan *p)
{
    qsort(p->instance, p->instances, sizeof *p->instance, by_start);
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];
        struct place place = {.task = x->task,
                              .node = x->processor,
                              .core = x->core,
                              .planned_start = x->start,
                              .planned_finish = x->finish};

        if (r->state.usable[place.node] && !r->state.task[x->task].done
            && graph_state_add(&r->state, &place) == GRAPH_NOBODY)
            return es_no_memory(r->err);
    }
    if (!session_is_local(r->front.session))
        graph_release(r);
    for (uint32_t i = 0; i < r->state.places; i++)
        if (graph_send_task(r, i) < 0)
            return -1;
    return 0;
}

static int begin_run(struct graph_running *r)
{
    struct graph_plan plan;
    struct graph_top_setup top;
    int rc;

    if (r->opened == 0)
        return es_fail(r->err, ES_ENV, "see the lines above",
                       "no node can take part");
    if (describe_nodes(r) < 0 || make_plan(r, &plan) < 0)
        return -1;
    r->order = plan.rank;
    r->state.order = plan.rank;
    plan.rank = NULL;
    graph_state_review(&r->state, r->delivered);
    r->phase = RUNNING;
    r->begin_ns = clock_ns();
    r->energy = energy_start(r->front.base, r->front.session, r->o->config,
                             !session_is_local(r->front.session));
    graph_progress_start(&r->progress, r->f->graph->tasks, r->planned.makespan);
    top = (struct graph_top_setup){.state = &r->state,
                                   .session = r->front.session,
                                   .file = r->o->graph,
                                   .cores = r->machine.cores,
                                   .begin_ns = r->begin_ns,
                                   .planned = r->planned.makespan};
    graph_top_start(&r->top, r->front.base, &top);
    if (r->state.tasks_done > 0)
        notice("%u of %u tasks are done already", r->state.tasks_done,
               r->f->graph->tasks);
    rc = place_plan(r, &plan);
    graph_plan_clear(&plan);
    if (rc == 0)
        graph_recover(r); /* gives everybody what is there */
    return rc;
}

/* --- the folders ---------------------------------------------------------- */

/* Is it exactly what a task has made? Inputs are brought again. */
static int is_good(const struct graph_running *r, const struct exchange_file *f)
{
    const struct exchange_file *made;

    if (f->number >= r->work.files
        || r->work.file[f->number].maker == GRAPH_NOBODY)
        return 0;
    made = &r->made[f->number];
    return file_digest_is_known(&made->digest) && f->bytes == made->bytes
           && file_digest_is_equal(&f->digest, &made->digest);
}

/* Files that a node has from an earlier run count if they are what was made
 * then.  The node uses none of them until it is told to. */
static int take_store(struct graph_running *r,
                      uint32_t node,
                      const struct graph_opened *m)
{
    for (uint32_t i = 0; i < m->files; i++) {
        struct holder h = {
            .node = node, .from = HOLDER_HERE, .file = m->file[i]};

        if (!is_good(r, &m->file[i]))
            continue;
        if (graph_state_hold(&r->state, m->file[i].number, &h) < 0)
            return es_no_memory(r->err);
        graph_send_here(r, node, m->file[i].number);
    }
    return 0;
}

static void begin(struct graph_running *r)
{
    if (begin_run(r) < 0)
        graph_finish(r, 1);
    else
        graph_check_end(r);
}

static void all_opened(struct graph_running *r)
{
    if (r->opened < r->state.nodes || r->phase != OPENING)
        return;
    for (uint32_t v = 0; v < r->f->graph->tasks; v++) {
        r->state.task[v].done = r->was_done[v];
        r->state.tasks_done += r->was_done[v];
    }
    if (graph_speeds_start(&r->speeds, r->front.session, r->o, r->err) < 0)
        graph_finish(r, 1);
    else if (r->speeds.qualification.missing == 0)
        begin(r);
}

int graph_opening_message(struct graph_running *r,
                          uint32_t node,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len)
{
    if (!r->speeds.setup.probe
        || !qualification_message(&r->speeds.qualification, node, type, body,
                                  len))
        return 0;
    if (r->phase == OPENING && r->speeds.qualification.missing == 0)
        begin(r);
    return 1;
}

/* A node that was lost, with what it still has. */
static void on_reopened(struct graph_running *r,
                        uint32_t node,
                        const struct graph_opened *m)
{
    if (r->state.usable[node]) {
        session_drop(r->front.session, node);
    } else if (m->why[0]) {
        notice("%s: %s: it gets no more tasks", graph_node_name(r, node),
               m->why);
    } else {
        r->state.usable[node] = 1;
        if (take_store(r, node, m) < 0)
            graph_finish(r, 1);
        else
            graph_rebalance(r);
    }
}

void graph_opening_answered(struct graph_running *r,
                            uint32_t node,
                            const struct graph_opened *m)
{
    struct processor_kind *kind = &r->kind[node];

    if (r->phase == RUNNING) {
        on_reopened(r, node, m);
        return;
    }
    r->opened++;
    if (m->why[0]) {
        graph_finish(r, es_fail(r->err, ES_WORK, "see --work", "%s: %s",
                                graph_node_name(r, node), m->why));
        return;
    }
    r->own_cores[node] = m->cores;
    kind->cores =
        r->o->plan.machine.cores > 0 ? r->o->plan.machine.cores : m->cores;
    kind->core_bytes = (double)m->memory / kind->cores;
    if (take_store(r, node, m) < 0)
        graph_finish(r, 1);
    else
        all_opened(r);
}

const char *graph_opening_folder(const struct graph_running *r)
{
    const char *folder = r->o->work ? r->o->work : getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}

static int write_open(struct graph_running *r, struct writer *w)
{
    struct graph_open m = {.port = listener_port(r->listener),
                           .keep = r->o->journal != NULL};

    snprintf(m.folder, sizeof m.folder, "%s", graph_opening_folder(r));
    snprintf(m.run, sizeof m.run, "%s", r->run);
    if (m.folder[0] != '/')
        return es_fail(r->err, ES_USAGE, "give a whole path",
                       "--work: \"%s\" is not the same everywhere", m.folder);
    graph_write_open(w, &m);
    return 0;
}

int graph_opening_ask(struct graph_running *r, uint32_t node)
{
    struct writer w = {0};

    if (write_open(r, &w) < 0)
        return -1;
    graph_say(r, node, GRAPH_MSG_OPEN, &w);
    return 0;
}

int graph_opening_ask_all(struct graph_running *r)
{
    struct writer w = {0};

    if (write_open(r, &w) < 0)
        return -1;
    session_send_all(r->front.session,
                     (enum protocol_type)(MSG_GRAPH + GRAPH_MSG_OPEN), &w);
    return 0;
}
