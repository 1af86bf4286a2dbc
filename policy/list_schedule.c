/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the inputs of a task can be on a processor is the latest of those made
 * there and of the messages from elsewhere.  The latest message of all decides
 * for all processors but the one that it comes from, for which the latest from
 * the others does.
 */
#include "policy/list_schedule.h"

#include "policy/order.h"

#include <stdlib.h>

struct core_choice {
    uint32_t core;
    int64_t free; /* when it and the others of the task are */
};

struct list_room {
    uint32_t cores;
    int64_t *free_from;       /* by core of all */
    struct core_choice *idle; /* by processor: for a task of one core */
    int64_t *made;            /* by processor: its inputs made there */
    uint32_t *stamp;          /* by processor: the task + 1 that made[] is of */
    int64_t *key;             /* by task: what HEFT orders by */
    uint32_t *order, *scratch, *rank; /* by place; by task */
    uint32_t *at;                     /* by task: its instance */
};

struct list_room *list_room_create(const struct graph *g,
                                   uint32_t processors,
                                   uint32_t cores)
{
    struct list_room *r = calloc(1, sizeof *r);
    size_t tasks = g->tasks;

    if (!r)
        return NULL;
    r->cores = cores;
    r->free_from = calloc((size_t)processors * cores + 1, sizeof *r->free_from);
    r->idle = calloc(processors + (size_t)1, sizeof *r->idle);
    r->made = calloc(processors + (size_t)1, sizeof *r->made);
    r->stamp = calloc(processors + (size_t)1, sizeof *r->stamp);
    r->key = calloc(tasks, sizeof *r->key);
    r->order = calloc(tasks, sizeof *r->order);
    r->scratch = calloc(tasks, sizeof *r->scratch);
    r->rank = calloc(tasks, sizeof *r->rank);
    r->at = calloc(tasks, sizeof *r->at);
    if (!r->free_from || !r->idle || !r->made || !r->stamp || !r->key
        || !r->order || !r->scratch || !r->rank || !r->at) {
        list_room_destroy(r);
        return NULL;
    }
    return r;
}

void list_room_destroy(struct list_room *r)
{
    if (!r)
        return;
    free(r->free_from);
    free(r->idle);
    free(r->made);
    free(r->stamp);
    free(r->key);
    free(r->order);
    free(r->scratch);
    free(r->rank);
    free(r->at);
    free(r);
}

/* --- order ---------------------------------------------------------------- */

/* How long tasks take on a processor of them all, on the average. */
static double mean_slowness(const struct machine *m)
{
    double sum = 0;

    for (uint32_t p = 0; m->kind && p < m->processors; p++)
        sum += m->kind[p].slowness;
    return m->kind ? sum / m->processors : 1;
}

/* The longest way to an end, with communication: HEFT's upward rank. */
static void find_upward_ranks(const struct graph *g,
                              double slowness,
                              int64_t upward[])
{
    for (uint32_t i = g->tasks; i-- > 0;) {
        uint32_t v = g->ranked[i];
        int64_t most = 0;

        for (uint32_t k = g->succ_at[v]; k < g->succ_at[v + 1]; k++) {
            int64_t way = g->succ[k].comm + upward[g->succ[k].task];

            if (way > most)
                most = way;
        }
        upward[v] = (int64_t)((double)g->time[v] * slowness) + most;
    }
}

/* Equals stay in the graph's order, so nobody goes before what it waits for. */
static void make_order(const struct graph *g,
                       const struct machine *m,
                       enum list_rule rule,
                       struct list_room *r)
{
    for (uint32_t i = 0; i < g->tasks; i++)
        r->order[i] = g->ranked[i];
    if (rule == LIST_HEFT) {
        find_upward_ranks(g, mean_slowness(m), r->key);
        order_descending(r->order, r->scratch, g->tasks, r->key);
    }
    for (uint32_t i = 0; i < g->tasks; i++)
        r->rank[r->order[i]] = i;
}

/* --- places --------------------------------------------------------------- */

/* When the inputs of a task are there. */
struct inputs {
    int64_t latest;        /* of all messages */
    uint32_t latest_from;  /* that processor */
    int64_t latest_others; /* of those from others */
};

static struct inputs find_inputs(const struct graph *g,
                                 uint32_t v,
                                 const struct instance instance[],
                                 struct list_room *r)
{
    struct inputs in = {0, GRAPH_NOBODY, 0};

    for (uint32_t k = g->pred_at[v]; k < g->pred_at[v + 1]; k++) {
        const struct instance *u = &instance[r->at[g->pred[k].task]];
        int64_t message = u->finish + g->pred[k].comm;

        if (r->stamp[u->processor] != v + 1) {
            r->stamp[u->processor] = v + 1;
            r->made[u->processor] = 0;
        }
        if (u->finish > r->made[u->processor])
            r->made[u->processor] = u->finish;
        if (message > in.latest) {
            if (in.latest_from != u->processor)
                in.latest_others = in.latest;
            in.latest = message;
            in.latest_from = u->processor;
        } else if (u->processor != in.latest_from
                   && message > in.latest_others) {
            in.latest_others = message;
        }
    }
    return in;
}

static int64_t inputs_at(const struct inputs *in,
                         uint32_t v,
                         uint32_t p,
                         const struct list_room *r)
{
    int64_t at = p == in->latest_from ? in->latest_others : in->latest;

    return r->stamp[p] == v + 1 && r->made[p] > at ? r->made[p] : at;
}

/* Neighbouring cores of p that are free first. */
static struct core_choice find_cores(const struct machine *m,
                                     uint32_t p,
                                     uint32_t width,
                                     const struct list_room *r)
{
    const int64_t *free_from = r->free_from + (size_t)p * r->cores;
    struct core_choice best = {0, INT64_MAX};

    for (uint32_t c = 0; c + width <= machine_cores(m, p); c++) {
        int64_t at = 0;

        for (uint32_t i = c; i < c + width; i++)
            if (free_from[i] > at)
                at = free_from[i];
        if (at < best.free)
            best = (struct core_choice){c, at};
    }
    return best;
}

static void take_cores(const struct machine *m,
                       const struct instance *x,
                       uint32_t width,
                       struct list_room *r)
{
    int64_t *free_from = r->free_from + (size_t)x->processor * r->cores;

    for (uint32_t c = x->core; c < x->core + width; c++)
        free_from[c] = x->finish;
    r->idle[x->processor] = find_cores(m, x->processor, 1, r);
}

/* Where the task ends first, or, plainly, a core is free first. */
static int place_task(const struct graph *g,
                      const struct machine *m,
                      enum list_rule rule,
                      uint32_t v,
                      struct instance instance[],
                      struct list_room *r)
{
    struct inputs in = find_inputs(g, v, instance, r);
    struct instance *x = &instance[r->rank[v]];
    int64_t best = INT64_MAX;
    uint32_t best_width = 0;

    for (uint32_t p = 0; p < m->processors; p++) {
        uint32_t width = machine_width(m, g, v, p);
        struct core_choice c = r->idle[p];
        int64_t start = inputs_at(&in, v, p, r), finish, by;

        if (width == 0)
            continue;
        if (width > 1)
            c = find_cores(m, p, width, r);
        if (c.free > start)
            start = c.free;
        finish = start + machine_time(m, g->time[v], p);
        by = rule == LIST_HEFT ? finish : c.free;
        if (by < best) {
            best = by;
            best_width = width;
            *x = (struct instance){v, p, c.core, start, finish};
        }
    }
    if (best_width == 0)
        return -1;
    r->at[v] = r->rank[v];
    take_cores(m, x, best_width, r);
    return 0;
}

int list_place(const struct graph *g,
               const struct machine *m,
               enum list_rule rule,
               struct instance instance[],
               const uint32_t **rank,
               struct list_room *r)
{
    make_order(g, m, rule, r);
    for (uint32_t p = 0; p < m->processors; p++) {
        r->stamp[p] = 0;
        r->idle[p] = (struct core_choice){0, 0};
        for (uint32_t c = 0; c < r->cores; c++)
            r->free_from[(size_t)p * r->cores + c] = 0;
    }
    for (uint32_t i = 0; i < g->tasks; i++)
        if (place_task(g, m, rule, r->order[i], instance, r) < 0)
            return -1;
    *rank = r->rank;
    return 0;
}
