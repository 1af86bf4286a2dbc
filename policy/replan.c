/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rest of the graph is a graph of its own: what is done takes no time and
 * waits for nothing; so that nothing delays it, either, it is on a core of its
 * own, behind those of the processor.  Its tasks are looked at in its own
 * order, so that when one is placed the times of all that it waits for are
 * known.
 */
#include "policy/replan.h"

#include <stdlib.h>

#define NEVER INT64_MAX

struct replan {
    struct graph *rest;
    const struct machine *real;
    struct machine m;            /* with the core for what is done */
    struct processor_kind *kind; /* likewise */
    uint32_t cores;              /* without it, of that with most */
    const uint8_t *done, *usable;
    struct instance *instance;
    uint32_t n;
    uint32_t *first, *next; /* by task; by instance: the others of the task */
    int64_t *free_from;     /* by core of all */
    uint8_t *timed;         /* by instance: its times are known */
};

static int make_rest(struct replan *r, const struct graph *g)
{
    const uint8_t *done = r->done;
    struct graph_edge *edge = calloc(g->edges + (size_t)1, sizeof *edge);
    int64_t *time = calloc(g->tasks, sizeof *time);
    uint32_t m = 0;

    for (uint32_t v = 0; edge && time && v < g->tasks; v++) {
        time[v] = done[v] ? 0 : g->time[v];
        for (uint32_t i = g->pred_at[v]; !done[v] && i < g->pred_at[v + 1]; i++)
            edge[m++] =
                (struct graph_edge){g->pred[i].task, v, g->pred[i].comm};
    }
    if (edge && time)
        (void)graph_create(&r->rest, time, g->tasks, edge, m, NULL);
    free(edge);
    free(time);
    if (!r->rest || (g->need && graph_set_needs(r->rest, g->need) < 0))
        return -1;
    for (uint32_t v = 0; g->need && v < g->tasks; v++)
        if (done[v])
            r->rest->need[v] = (struct graph_need){.cores = 1};
    return 0;
}

/* The kinds, each with one core more than the largest has. */
static int make_kinds(struct replan *r)
{
    r->kind = calloc(r->real->processors + (size_t)1, sizeof *r->kind);
    if (!r->kind)
        return -1;
    for (uint32_t p = 0; r->real->kind && p < r->real->processors; p++) {
        r->kind[p] = r->real->kind[p];
        r->kind[p].cores = r->m.cores;
    }
    r->m.kind = r->real->kind ? r->kind : NULL;
    return 0;
}

static uint32_t core_in_row(const struct replan *r, const struct instance *x)
{
    return x->processor * r->m.cores + x->core;
}

/* When what v waits for can be on the processor. */
static int64_t inputs_at(const struct replan *r, uint32_t v, uint32_t processor)
{
    const struct graph *g = r->rest;
    int64_t all = 0;

    for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++) {
        int64_t one = NEVER;

        for (uint32_t k = r->first[g->pred[i].task]; k != GRAPH_NOBODY;
             k = r->next[k]) {
            const struct instance *x = &r->instance[k];
            int64_t at =
                x->finish + (x->processor == processor ? 0 : g->pred[i].comm);

            if (at < one)
                one = at;
        }
        if (one > all)
            all = one;
    }
    return all;
}

static void run_on(struct replan *r, uint32_t k)
{
    struct instance *x = &r->instance[k];
    int64_t *free_from = &r->free_from[core_in_row(r, x)];
    uint32_t width = machine_width(&r->m, r->rest, x->task, x->processor);

    x->start = inputs_at(r, x->task, x->processor);
    for (uint32_t c = 0; c < width; c++)
        if (free_from[c] > x->start)
            x->start = free_from[c];
    x->finish =
        x->start + machine_time(&r->m, r->rest->time[x->task], x->processor);
    for (uint32_t c = 0; c < width; c++)
        free_from[c] = x->finish;
    r->timed[k] = 1;
}

/* The cores of a processor for v that are free first, and when; ties: the
 * lowest.  It fits there. */
static uint32_t first_free(const struct replan *r,
                           uint32_t v,
                           uint32_t processor,
                           int64_t *free_at)
{
    const int64_t *at = &r->free_from[processor * r->m.cores];
    uint32_t width = machine_width(r->real, r->rest, v, processor), best = 0;

    *free_at = NEVER;
    for (uint32_t c = 0; c + width <= machine_cores(r->real, processor); c++) {
        int64_t last = 0;

        for (uint32_t i = c; i < c + width; i++)
            if (at[i] > last)
                last = at[i];
        if (last < *free_at) {
            *free_at = last;
            best = c;
        }
    }
    return best;
}

/* Where v would end first, but for one processor; GRAPH_NOBODY: nowhere. */
static uint32_t find_processor(const struct replan *r,
                               uint32_t v,
                               uint32_t excluded)
{
    uint32_t best = GRAPH_NOBODY;
    int64_t best_at = NEVER;

    for (uint32_t p = 0; p < r->m.processors; p++) {
        int64_t free_at, at;

        if (!r->usable[p] || p == excluded
            || machine_width(r->real, r->rest, v, p) == 0)
            continue;
        (void)first_free(r, v, p, &free_at);
        at = inputs_at(r, v, p);
        if (at < free_at)
            at = free_at;
        at += machine_time(r->real, r->rest->time[v], p);
        if (at < best_at) {
            best_at = at;
            best = p;
        }
    }
    return best;
}

static int place(struct replan *r, uint32_t v, uint32_t excluded)
{
    uint32_t p = find_processor(r, v, excluded);
    int64_t free_at;

    if (p == GRAPH_NOBODY)
        p = find_processor(r, v, GRAPH_NOBODY);
    if (p == GRAPH_NOBODY)
        return -1;
    r->instance[r->n] =
        (struct instance){v, p, first_free(r, v, p, &free_at), 0, 0};
    r->next[r->n] = GRAPH_NOBODY;
    r->first[v] = r->n;
    run_on(r, r->n++);
    return 0;
}

static int chain_up(struct replan *r)
{
    for (uint32_t v = 0; v < r->rest->tasks; v++)
        r->first[v] = GRAPH_NOBODY;
    for (uint32_t i = 0; i < r->n; i++) {
        struct instance *x = &r->instance[i];

        if (x->task >= r->rest->tasks || x->processor >= r->m.processors
            || (!r->done[x->task] && x->core >= r->cores))
            return -1;
        if (r->done[x->task])
            x->core = r->cores;
        r->next[i] = r->first[x->task];
        r->first[x->task] = i;
    }
    return 0;
}

static int inputs_are_there(const struct replan *r, uint32_t v)
{
    const struct graph *g = r->rest;

    for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
        if (!r->done[g->pred[i].task])
            return 0;
    return 1;
}

/* What could begin where it is has begun: nothing goes before it any more. */
static void run_begun(struct replan *r)
{
    for (uint32_t i = 0; i < r->rest->tasks; i++) {
        uint32_t v = r->rest->ranked[i];

        if (!inputs_are_there(r, v))
            continue;
        for (uint32_t k = r->first[v]; k != GRAPH_NOBODY; k = r->next[k])
            if (r->done[v]
                || r->free_from[core_in_row(r, &r->instance[k])] == 0)
                run_on(r, k);
    }
}

static int place_all(struct replan *r, const uint32_t excluded[])
{
    if (chain_up(r) < 0)
        return -1;
    run_begun(r);
    for (uint32_t i = 0; i < r->rest->tasks; i++) {
        uint32_t v = r->rest->ranked[i];

        if (r->first[v] == GRAPH_NOBODY) {
            if (place(r, v, excluded ? excluded[v] : GRAPH_NOBODY) < 0)
                return -1;
            continue;
        }
        for (uint32_t k = r->first[v]; k != GRAPH_NOBODY; k = r->next[k])
            if (!r->timed[k])
                run_on(r, k);
    }
    return 0;
}

static int reckon_makespan(struct replan *r, int64_t *makespan)
{
    struct schedule_room *room =
        schedule_room_create(r->rest, r->n, r->m.processors * r->m.cores);
    struct schedule_sum sum = {0};
    int rc = -1;

    if (room)
        rc = schedule_evaluate(r->rest, &r->m, r->instance, r->n, room, &sum);
    schedule_room_destroy(room);
    if (rc == 0)
        *makespan = sum.makespan;
    return rc;
}

int replan_place(const struct graph *g,
                 const struct machine *m,
                 const uint8_t done[],
                 const uint8_t usable[],
                 const uint32_t excluded[],
                 struct instance instance[],
                 uint32_t *n,
                 int64_t *makespan)
{
    struct replan r = {.real = m,
                       .m = *m,
                       .cores = m->cores,
                       .done = done,
                       .usable = usable,
                       .instance = instance,
                       .n = *n};
    int rc = -1;

    r.m.cores++;
    if (m->processors > SCHEDULE_CORES_MAX / r.m.cores)
        return -1;
    r.timed = calloc(*n + (size_t)g->tasks, 1);
    r.first = calloc(g->tasks, sizeof *r.first);
    r.next = calloc(*n + (size_t)g->tasks, sizeof *r.next);
    r.free_from =
        calloc((size_t)r.m.processors * r.m.cores + 1, sizeof *r.free_from);
    if (r.timed && r.first && r.next && r.free_from && make_rest(&r, g) == 0
        && make_kinds(&r) == 0 && place_all(&r, excluded) == 0
        && reckon_makespan(&r, makespan) == 0) {
        *n = r.n;
        rc = 0;
    }
    graph_destroy(r.rest);
    free(r.timed);
    free(r.first);
    free(r.next);
    free(r.free_from);
    free(r.kind);
    return rc;
}
