/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instances are sorted by core and then, stably, by the rank of their
 * task: in that order every input is known when it is looked for, and the
 * instances of a task are a run in which a processor is found by bisection.
 */
#include "policy/schedule.h"

#include <stdlib.h>

#define NEVER INT64_MAX

struct schedule_room {
    uint32_t instances, cores;
    const uint32_t *graph_rank;
    const uint32_t *rank;   /* by task: the order */
    struct instance *other; /* instances, while sorting */
    uint32_t *count;        /* of a key, while sorting */
    uint32_t *at;           /* by rank: where the task's instances begin */
    int64_t *earliest;      /* by task: finish of its first instance */
    int64_t *free_from;     /* by core */
    int64_t *local;         /* by predecessor of the task being looked at */
};

struct schedule_room *schedule_room_create(const struct graph *g,
                                           uint32_t instances,
                                           uint32_t cores)
{
    struct schedule_room *r = calloc(1, sizeof *r);
    uint32_t keys = cores > g->tasks ? cores : g->tasks;

    if (!r)
        return NULL;
    r->rank = g->rank;
    r->graph_rank = g->rank;
    r->instances = instances;
    r->cores = cores;
    r->other = calloc(instances + (size_t)1, sizeof *r->other);
    r->count = calloc(keys + (size_t)1, sizeof *r->count);
    r->at = calloc(g->tasks + (size_t)1, sizeof *r->at);
    r->earliest = calloc(g->tasks, sizeof *r->earliest);
    r->free_from = calloc(cores + (size_t)1, sizeof *r->free_from);
    r->local = calloc(g->tasks, sizeof *r->local);
    if (!r->other || !r->count || !r->at || !r->earliest || !r->free_from
        || !r->local) {
        schedule_room_destroy(r);
        return NULL;
    }
    return r;
}

void schedule_room_destroy(struct schedule_room *r)
{
    if (!r)
        return;
    free(r->other);
    free(r->count);
    free(r->at);
    free(r->earliest);
    free(r->free_from);
    free(r->local);
    free(r);
}

void schedule_room_order(struct schedule_room *room, const uint32_t rank[])
{
    room->rank = rank ? rank : room->graph_rank;
}

/* --- order ---------------------------------------------------------------- */

static uint32_t core_number(const struct machine *m, const struct instance *i)
{
    return i->processor * m->cores + i->core;
}

static int is_placed(const struct graph *g,
                     const struct machine *m,
                     const struct instance instance[],
                     uint32_t n,
                     const struct schedule_room *room)
{
    uint32_t found = 0;

    if (n > room->instances || m->cores == 0
        || m->processors > room->cores / m->cores)
        return 0;
    for (uint32_t v = 0; v < g->tasks; v++)
        room->count[v] = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct instance *x = &instance[i];
        uint32_t cores, width;

        if (x->task >= g->tasks || x->processor >= m->processors)
            return 0;
        cores = machine_cores(m, x->processor);
        width = machine_width(m, g, x->task, x->processor);
        if (width == 0 || x->core > cores - width)
            return 0;
        found += room->count[instance[i].task]++ == 0;
    }
    return found == g->tasks;
}

/* A key by which instances are counted into place: of so many values, */
struct key {
    uint32_t values;
    const uint32_t *rank;    /* ...the task's, */
    const struct machine *m; /* ...or if that is NULL the core */
};

static uint32_t key_of(const struct key *k, const struct instance *i)
{
    return k->rank ? k->rank[i->task] : core_number(k->m, i);
}

/* Stable; count[] ends as each key's end. */
static void count_into(struct instance to[],
                       const struct instance from[],
                       uint32_t n,
                       const struct key *k,
                       uint32_t count[])
{
    uint32_t sum = 0;

    for (uint32_t j = 0; j < k->values; j++)
        count[j] = 0;
    for (uint32_t i = 0; i < n; i++)
        count[key_of(k, &from[i])]++;
    for (uint32_t j = 0; j < k->values; j++) {
        sum += count[j];
        count[j] = sum - count[j];
    }
    for (uint32_t i = 0; i < n; i++)
        to[count[key_of(k, &from[i])]++] = from[i];
}

/* sorted: by rank, then core. */
static int is_once(const struct machine *m,
                   const struct instance sorted[],
                   uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (sorted[i].task == sorted[i - 1].task
            && core_number(m, &sorted[i]) == core_number(m, &sorted[i - 1]))
            return 0;
    return 1;
}

/* --- time ----------------------------------------------------------------- */

/* When the first instance of task u on the processor is done, or NEVER. */
static int64_t local_finish(const struct instance sorted[],
                            const struct schedule_room *room,
                            uint32_t u,
                            uint32_t processor)
{
    uint32_t low = room->at[room->rank[u]], end = room->at[room->rank[u] + 1];
    uint32_t high = end;
    int64_t finish = NEVER;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sorted[middle].processor < processor)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && sorted[low].processor == processor; low++)
        if (sorted[low].finish < finish)
            finish = sorted[low].finish;
    return finish;
}

/* Set the times of an instance; returns the ns of messages that it gets. */
static int64_t run_one(const struct graph *g,
                       const struct machine *m,
                       const struct instance sorted[],
                       struct instance *i,
                       struct schedule_room *room)
{
    uint32_t begin = g->pred_at[i->task], end = g->pred_at[i->task + 1];
    uint32_t width = machine_width(m, g, i->task, i->processor);
    int64_t *free_from = &room->free_from[core_number(m, i)];
    int64_t start = free_from[0], messages = 0;

    for (uint32_t c = 1; c < width; c++)
        if (free_from[c] > start)
            start = free_from[c];

    for (uint32_t j = begin; j < end; j++) {
        uint32_t u = g->pred[j].task;
        int64_t arrival = room->earliest[u] + g->pred[j].comm;
        int64_t local = local_finish(sorted, room, u, i->processor);

        room->local[j - begin] = local;
        if (local < arrival)
            arrival = local;
        if (arrival > start)
            start = arrival;
    }
    for (uint32_t j = begin; j < end; j++)
        if (room->local[j - begin] > start)
            messages += g->pred[j].comm;
    i->start = start;
    i->finish = start + machine_time(m, g->time[i->task], i->processor);
    for (uint32_t c = 0; c < width; c++)
        free_from[c] = i->finish;
    if (i->finish < room->earliest[i->task])
        room->earliest[i->task] = i->finish;
    return messages;
}

/* --- the sum -------------------------------------------------------------- */

/* sorted: by core; cores of tasks that have several are used, too. */
static void sum_up_energy(const struct machine *m,
                          const struct graph *g,
                          const struct instance sorted[],
                          uint32_t n,
                          double busy,
                          double messages,
                          struct schedule_sum *sum)
{
    struct energy *e = &sum->energy;
    double span, on = 0;
    uint32_t unseen = 0; /* the first core beyond those that were counted */

    *sum = (struct schedule_sum){0};
    for (uint32_t i = 0; i < n; i++) {
        const struct instance *x = &sorted[i];
        uint32_t first = core_number(m, x);
        uint32_t end = first + machine_width(m, g, x->task, x->processor);

        if (i == 0 || x->processor != x[-1].processor) {
            sum->processors++;
            on += machine_cores(m, x->processor);
        }
        if (end > unseen) {
            sum->cores += end - (first > unseen ? first : unseen);
            unseen = end;
        }
        if (x->finish > sum->makespan)
            sum->makespan = x->finish;
    }
    span = (double)sum->makespan;
    on *= span;
    e->busy = m->power.busy * (busy / GRAPH_NS_PER_S);
    e->idle = m->power.idle * ((on - busy) / GRAPH_NS_PER_S);
    e->base = m->power.base * (sum->processors * span / GRAPH_NS_PER_S);
    e->comm = m->power.link * (messages / GRAPH_NS_PER_S);
    e->total = e->busy + e->idle + e->base + e->comm;
}

int schedule_evaluate(const struct graph *g,
                      const struct machine *m,
                      struct instance instance[],
                      uint32_t n,
                      struct schedule_room *room,
                      struct schedule_sum *sum)
{
    struct key by_core = {m->processors * m->cores, NULL, m};
    struct key by_rank = {g->tasks, room->rank, NULL};
    double busy = 0, messages = 0;

    if (!is_placed(g, m, instance, n, room))
        return -1;
    count_into(room->other, instance, n, &by_core, room->count);
    count_into(instance, room->other, n, &by_rank, room->count);
    if (!is_once(m, instance, n))
        return -1;
    room->at[0] = 0;
    for (uint32_t r = 0; r < g->tasks; r++) {
        room->at[r + 1] = room->count[r];
        room->earliest[r] = NEVER;
    }
    for (uint32_t c = 0; c < by_core.values; c++)
        room->free_from[c] = 0;
    for (uint32_t i = 0; i < n; i++) {
        messages += (double)run_one(g, m, instance, &instance[i], room);
        busy += (double)(instance[i].finish - instance[i].start)
                * machine_width(m, g, instance[i].task, instance[i].processor);
    }
    count_into(room->other, instance, n, &by_core, room->count);
    for (uint32_t i = 0; i < n; i++)
        instance[i] = room->other[i];
    sum_up_energy(m, g, instance, n, busy, messages, sum);
    return 0;
}
