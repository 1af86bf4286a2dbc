/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/qualification.h"
#include "launcher/probe/probe_json.h"
#include "launcher/session/qualification_rank.h"
#include "launcher/session/qualification_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- qualification ask --------------------------------------------------------- */

/* What a node is asked to measure. */

/* Of what nodes of one machine share, what is asked for all the same: to read
 * the port's speed costs nothing, and the cache may have what the ring has
 * measured. */
#define SHARED_ASKED PROBE_BIT(ELEMENT_I)

/* Of the budget: what the ring has, if there is one. */
#define RING_PART 0.4

/* What the ring has of the budget. */
static int qualification_ring_ms(const struct qualification_setup *setup)
{
    return (int)(setup->probe->budget_ms * RING_PART);
}

/* What is left for the probes of a node. */
static uint32_t node_ms(const struct qualification_setup *setup)
{
    int ms = setup->probe->budget_ms
             - (setup->ring ? qualification_ring_ms(setup) : 0);

    return (uint32_t)(ms > PROBE_NODE_BUDGET_MIN_MS ? ms
                                                    : PROBE_NODE_BUDGET_MIN_MS);
}

/* --- who shares a machine ------------------------------------------------- */

struct host {
    const char *boot_id;
    size_t node;
};

static int compare_hosts(const void *a, const void *b)
{
    const struct host *x = a, *y = b;

    return strcmp(x->boot_id, y->boot_id);
}

static int is_one_machine(const struct host *a, const struct host *b)
{
    return a->boot_id[0] && strcmp(a->boot_id, b->boot_id) == 0;
}

/* Mark the nodes that share their machine with another; -1 if memory ran out.
 * Mark the nodes that share their machine with another; -1 if memory ran out. */
static int qualification_find_shared(struct qualification *q)
{
    struct host *h = calloc(q->n, sizeof *h);

    for (size_t i = 0; h && i < q->n; i++)
        h[i] = (struct host){session_node(q->session, i)->boot_id, i};
    if (!h)
        return -1;
    qsort(h, q->n, sizeof *h, compare_hosts);
    for (size_t i = 0; i < q->n; i++)
        q->shares[h[i].node] =
            (i > 0 && is_one_machine(&h[i], &h[i - 1]))
            || (i + 1 < q->n && is_one_machine(&h[i], &h[i + 1]));
    free(h);
    return 0;
}

/* --- what a node is asked for --------------------------------------------- */

/* What a node is asked for: nobody waits for what does not count, but what is
 * to be shown is measured all the same. */
static uint32_t elements_for(const struct qualification *q, size_t node)
{
    const struct qualification_setup *s = q->setup;
    uint32_t elements = s->probe->elements;

    if (session_is_local(q->session))
        elements &= ~QUALIFICATION_SHARED;
    else if (q->shares[node] && s->profile)
        elements &= ~QUALIFICATION_SHARED | SHARED_ASKED;
    for (int e = 0; s->sparing && e < ELEMENTS; e++)
        if (e != ELEMENT_C && !(s->profile->profile.influence[e] > 0))
            elements &= ~PROBE_BIT(e);
    for (int e = 0; s->profile && e < ELEMENTS; e++)
        if (s->profile->need[e] > 0)
            elements |= PROBE_BIT(e); /* for how much there is of it */
    return elements;
}

/* The PROBE for a node. */
static void qualification_write_probe(const struct qualification *q,
                                      struct writer *w,
                                      size_t node)
{
    const struct config_probe *c = q->setup->probe;
    struct msg_probe m = {.fresh = q->setup->source == METRICS_PROBE,
                          .budget_ms = node_ms(q->setup),
                          .elements = elements_for(q, node),
                          .ttl_s = (uint64_t)c->ttl_s};

    snprintf(m.cache, sizeof m.cache, "%s", c->cache);
    snprintf(m.scratch, sizeof m.scratch, "%s", c->scratch);
    for (int i = 0; i < SITE_ELEMENTS; i++)
        if (m.elements & PROBE_BIT(ELEMENT_SITE + i))
            m.site[i] = c->site[i];
    msg_write_probe(w, &m);
}

/* Is all in it that the node would be asked for?  How much there is of a thing,
 * and what the site's own commands print, may have changed since.
 * Is all in it that the node would be asked for?  How much there is of a thing,
 * and what the site's own commands print, may have changed since. */
static int qualification_is_enough(const struct qualification *q,
                                   size_t node,
                                   const struct probe_result result[ELEMENTS])
{
    const struct config_profile *p = q->setup->profile;
    uint32_t elements = elements_for(q, node);

    for (int e = 0; e < ELEMENTS; e++)
        if ((elements & PROBE_BIT(e))
            && (e >= ELEMENT_SITE || result[e].state == PROBE_LEFT_OUT
                || (p && p->need[e] > 0)))
            return 0;
    return 1;
}

/* --- qualification file -------------------------------------------------------- */

/* The metrics of the nodes out of a metrics FILE. */

struct named_row { /* of the file */
    const char *name;
    size_t row;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named_row *)a)->name,
                  ((const struct named_row *)b)->name);
}

/* In the order of the names, owned by the caller; NULL if memory ran out. */
static struct named_row *sort_rows(const struct metrics_file *m)
{
    struct named_row *r = calloc(m->n, sizeof *r);

    for (size_t i = 0; r && i < m->n; i++)
        r[i] = (struct named_row){m->name[i], i};
    if (r)
        qsort(r, m->n, sizeof *r, compare_names);
    return r;
}

/* The row of the file that has this node's name, or NULL. */
static const struct named_row *find(const struct named_row *row,
                                    size_t n,
                                    const char *name)
{
    const struct named_row key = {name, 0};

    return bsearch(&key, row, n, sizeof key, compare_names);
}

/* The nodes of the file in the order of the session, ranked.  Fails with
 * ES_USAGE if it has not all of them or gives none any load.
 * The nodes of the file in the order of the session, ranked. */
static int qualification_take_file(struct qualification *q,
                                   struct es_error *err)
{
    const struct metrics_file *m = q->setup->file;
    struct metrics_file mine = {q->n, NULL, q->counted, NULL};
    struct named_row *rows = sort_rows(m);
    const struct config_profile *profile = q->setup->profile;
    int rc = 0;

    mine.utilization = calloc(q->n, sizeof *mine.utilization);
    if (!mine.utilization || !rows)
        rc = es_no_memory(err);
    for (size_t i = 0; rc == 0 && i < q->n; i++) {
        const struct named_row *r =
            find(rows, m->n, session_node(q->session, i)->name);

        if (!r) {
            rc = es_fail(err, ES_USAGE, "give every node of the allocation",
                         "%s: node %s is missing", q->setup->file_name,
                         session_node(q->session, i)->name);
            break;
        }
        memcpy(q->measured[i], m->measured[r->row], sizeof q->measured[i]);
        memcpy(mine.utilization[i], m->utilization[r->row],
               sizeof mine.utilization[i]);
    }
    memcpy(q->counted, q->measured, q->n * sizeof *q->counted);
    if (rc == 0
        && metrics_file_rank(&mine, &profile->profile, q->setup->probe->rank_by,
                             q->metric)
               < 0)
        rc = es_fail(err, ES_USAGE, "give another --profile, or measure more",
                     "%s: no node has any load by the profile %s",
                     q->setup->file_name, profile->name);
    free(rows);
    free(mine.utilization);
    return rc;
}

/* --- when all have answered ----------------------------------------------- */

/* What the links carried replaces what they tell of themselves: of a node
 * whose partners were not there it is not known. */
static void take_ring(struct qualification *q)
{
    for (size_t i = 0; i < q->ring.n && q->ring.rounds > 0; i++) {
        struct probe_result *r = &q->result[i][ELEMENT_I];
        double bytes_per_s, spread;
        char told[PROBE_WHAT_MAX];

        snprintf(told, sizeof told, "%s",
                 r->state == PROBE_MEASURED && !r->between
                     ? r->what
                     : "no speed is told");
        r->between = ring_test_value(&q->ring, i, &bytes_per_s, &spread) == 0;
        if (!r->between)
            probe_not_measured(r, "nothing came through between the nodes");
        else
            probe_measured(r, bytes_per_s * 8 / 1e9, spread,
                           "a flow each way, %u rounds; %.100s", q->ring.rounds,
                           told);
        r->seconds += q->ring.round_ms * q->ring.rounds / 1e3;
    }
}

static void over(struct qualification *q)
{
    int left_out[ELEMENTS];

    q->missing = 0;
    take_ring(q);
    if (q->setup->profile)
        qualification_rank(q);
    else
        qualification_complete(q, left_out);
}

/* When all have answered the ring begins: it wants the CPUs, too. */
static void start_ring(struct qualification *q)
{
    int wanted = q->setup->ring && !session_is_local(q->session)
                 && (q->setup->probe->elements & PROBE_BIT(ELEMENT_I))
                 && qualification_between(q) < q->n; /* the cache has it */

    if (wanted
        && ring_test_start(&q->ring, q->session,
                           qualification_ring_ms(q->setup))
               < 0)
        ring_test_clear(&q->ring);
    q->missing = q->ring.missing;
    q->in_ring = q->missing > 0;
    if (!q->in_ring)
        over(q);
}

static void count_answer(struct qualification *q, size_t node)
{
    if (q->missing == 0 || q->answered[node])
        return;
    q->answered[node] = 1;
    if (--q->missing == 0)
        start_ring(q);
}

/* --- what a node says ----------------------------------------------------- */

/* NULL, or why there are no results. */
static const char *take_results(struct qualification *q,
                                size_t node,
                                const uint8_t *body,
                                size_t len,
                                struct es_error *err)
{
    struct msg_probed *m = &q->answer[node];
    json_t *json;
    int rc;

    if (msg_read_probed(m, body, len) < 0)
        return "its agent does not speak evenstep's protocol";
    if (m->len == 0)
        return m->text[0] ? m->text : "its agent does not say why";
    json = json_loadb((const char *)m->results, m->len, JSON_REJECT_DUPLICATES,
                      NULL);
    m->results = NULL; /* it was the message's */
    if (!json)
        return "the results are no JSON";
    rc = probe_from_json(q->result[node], json, err);
    json_decref(json);
    return rc < 0 ? err->what : NULL;
}

static void answer(struct qualification *q,
                   size_t node,
                   const uint8_t *body,
                   size_t len)
{
    struct es_error err = {0};
    const char *why;

    if (!q->again[node] && (q->missing == 0 || q->answered[node]))
        return;
    why = take_results(q, node, body, len, &err);
    for (int e = 0; why && e < ELEMENTS; e++)
        if (q->setup->probe->elements & PROBE_BIT(e))
            probe_not_measured(&q->result[node][e], "%s", why);
    if (q->again[node] && q->missing == 0) {
        q->answered[node] = 1;
        q->again[node] = 0;
        qualification_rank(q);
        return;
    }
    q->again[node] = 0;
    count_answer(q, node);
}

int qualification_message(struct qualification *q,
                          size_t node,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len)
{
    if (type == MSG_PROBED) {
        answer(q, node, body, len);
        return 1;
    }
    if (!ring_test_message(&q->ring, node, type, body, len))
        return 0;
    q->missing = q->ring.missing;
    if (q->in_ring && q->missing == 0) {
        q->in_ring = 0;
        over(q);
    }
    return 1;
}

void qualification_lost(struct qualification *q, size_t node)
{
    if (q->again[node] && q->missing == 0) {
        q->again[node] = 0;
        qualification_rank(q); /* which may have waited for it alone */
        return;
    }
    q->again[node] = 0;
    if (!q->in_ring) {
        count_answer(q, node);
        return;
    }
    ring_test_lost(&q->ring, node);
    q->missing = q->ring.missing;
    if (q->missing == 0) {
        q->in_ring = 0;
        over(q);
    }
}

int qualification_wants_ring(const struct config_profile *profile)
{
    return profile->profile.influence[ELEMENT_I]
           >= qualification_highest(&profile->profile);
}

/* --- start and end -------------------------------------------------------- */

static int allocate_answers(struct qualification *q)
{
    q->answered = calloc(q->n, 1);
    q->again = calloc(q->n, 1);
    q->answer = calloc(q->n, sizeof *q->answer);
    q->result = calloc(q->n, sizeof *q->result);
    q->measured = calloc(q->n, sizeof *q->measured);
    q->counted = calloc(q->n, sizeof *q->counted);
    q->shares = calloc(q->n, 1);
    q->metric = calloc(q->n, sizeof *q->metric);
    q->scratch = calloc(q->n, sizeof *q->scratch);
    return q->answered && q->again && q->answer && q->result && q->measured
                   && q->counted && q->shares && q->metric && q->scratch
               ? 0
               : -1;
}

/* 1 if the node need not be asked. */
static int take_known(struct qualification *q, size_t node)
{
    struct msg_probed *m = &q->answer[node];
    struct probe_result result[ELEMENTS] = {0};
    const char *hardware = "";
    json_t *json = q->setup->known(q->setup->known_arg,
                                   session_node(q->session, node), &hardware);

    if (!json || probe_from_json(result, json, NULL) < 0
        || !qualification_is_enough(q, node, result))
        return 0;
    memcpy(q->result[node], result, sizeof result);
    m->cached = 1;
    snprintf(m->hardware, sizeof m->hardware, "%s", hardware);
    count_answer(q, node);
    return 1;
}

static int ask_all(struct qualification *q)
{
    struct writer *w = calloc(q->n, sizeof *w);
    char *to = malloc(q->n);
    size_t start = session_start_size(q->session);

    if (w && to) {
        q->missing = start;
        for (size_t i = 0; i < q->n; i++) {
            to[i] = i >= start || !q->setup->known || !take_known(q, i);
            if (to[i])
                qualification_write_probe(q, &w[i], i);
        }
        if (q->missing > 0)
            session_send_each(q->session, MSG_PROBE, w, to);
    }
    for (size_t i = 0; w && i < q->n; i++)
        writer_clear(&w[i]);
    free(w);
    free(to);
    return w && to ? 0 : -1;
}

static json_t *guess_of(const struct qualification *q, size_t node)
{
    const struct qualification_setup *s = q->setup;

    return s->guess ? s->guess(s->known_arg, q->session, node) : NULL;
}

int qualification_may_guess(const struct qualification *q, size_t node)
{
    return q->setup->source == METRICS_EQUAL || guess_of(q, node) != NULL;
}

static void guess(struct qualification *q, size_t node)
{
    json_t *json = guess_of(q, node);

    if (json && probe_from_json(q->result[node], json, NULL) < 0)
        memset(q->result[node], 0, sizeof q->result[node]);
}

int qualification_again(struct qualification *q, size_t node)
{
    struct writer w = {0};

    if (q->setup->source == METRICS_EQUAL
        || q->setup->source == METRICS_OF_FILE)
        return 0;
    /* One that joins may share its machine. */
    (void)qualification_find_shared(q);
    if (!q->answered[node] && q->setup->known && take_known(q, node)) {
        q->answered[node] = 1;
        q->again[node] = 0;
        if (q->missing == 0)
            qualification_rank(q);
        return 0;
    }
    memset(q->result[node], 0, sizeof q->result[node]);
    if (!q->answered[node])
        guess(q, node);
    q->again[node] = 1;
    qualification_write_probe(q, &w, node);
    session_send(q->session, node, MSG_PROBE, &w);
    return 1;
}

void qualification_go_on(struct qualification *q)
{
    for (size_t i = 0; i < session_start_size(q->session); i++)
        if (!q->answered[i]) {
            q->again[i] = 1;
            guess(q, i);
        }
    over(q);
}

int qualification_is_again(const struct qualification *q, size_t node)
{
    return q->again && q->again[node];
}

int qualification_start(struct qualification *q,
                        struct session *session,
                        const struct qualification_setup *setup,
                        struct es_error *err)
{
    memset(q, 0, sizeof *q);
    q->setup = setup;
    q->session = session;
    q->n = q->known = session_size(session);
    if (allocate_answers(q) < 0 || qualification_find_shared(q) < 0)
        return es_no_memory(err);
    if (setup->source == METRICS_OF_FILE)
        return qualification_take_file(q, err);
    if (setup->source == METRICS_EQUAL)
        qualification_rank_equal(q);
    else if (ask_all(q) < 0)
        return es_no_memory(err);
    return 0;
}

void qualification_clear(struct qualification *q)
{
    ring_test_clear(&q->ring);
    free(q->answered);
    free(q->again);
    free(q->answer);
    free(q->result);
    free(q->measured);
    free(q->counted);
    free(q->shares);
    free(q->metric);
    free(q->scratch);
    memset(q, 0, sizeof *q);
}

char *qualification_text(const struct qualification *q)
{
    const char **name = calloc(q->n, sizeof *name);
    size_t n = session_known_size(q->session);
    char *text = NULL;

    for (size_t i = 0; name && i < n; i++)
        name[i] = session_node(q->session, i)->name;
    if (name)
        text =
            metrics_file_text(name, (const double(*)[ELEMENTS])q->measured, n);
    free(name);
    return text;
}
