/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One list of edges becomes two lists of neighbours, each ascending; Kahn's
 * algorithm with a heap of the ready tasks gives the topological order; two
 * passes over that order give the parameters.
 */
#include "policy/graph.h"

#include "policy/order.h"

#include <stdlib.h>

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- is it one ------------------------------------------------------------ */

static enum graph_fault check_graph(const int64_t time[],
                                    uint32_t n,
                                    const struct graph_edge edge[],
                                    uint32_t m,
                                    uint32_t *place)
{
    int64_t left = GRAPH_TOTAL_MAX;

    if (n == 0 || n > GRAPH_TASKS_MAX)
        return GRAPH_TASKS;
    if (m > GRAPH_EDGES_MAX)
        return GRAPH_EDGES;
    for (*place = 0; *place < n; ++*place) {
        if (time[*place] < 0)
            return GRAPH_TASK;
        if (time[*place] > left)
            return GRAPH_TOO_LONG;
        left -= time[*place];
    }
    for (*place = 0; *place < m; ++*place) {
        const struct graph_edge *e = &edge[*place];

        if (e->from >= n || e->to >= n || e->comm < 0)
            return GRAPH_EDGE;
        if (e->comm > left)
            return GRAPH_TOO_LONG;
        left -= e->comm;
    }
    return GRAPH_SOUND;
}

/* --- neighbours ----------------------------------------------------------- */

/* Make at[v + 1] the end of v's list, from counts in at[v + 1]. */
static void lists_from_counts(uint32_t at[], uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        at[v + 1] += at[v];
}

/* Turn lists round: v is in out's list of u if u is in list v of in.  As v
 * ascends, every list of out ascends.  next is scratch of n. */
static void turn(uint32_t n,
                 const uint32_t in_at[],
                 const struct graph_link in[],
                 const uint32_t out_at[],
                 struct graph_link out[],
                 uint32_t next[])
{
    for (uint32_t v = 0; v < n; v++)
        next[v] = out_at[v];
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t i = in_at[v]; i < in_at[v + 1]; i++)
            out[next[in[i].task]++] = (struct graph_link){v, in[i].comm};
}

/* Make one link of neighbours in a list that have the same task. */
static void join_parallel(uint32_t n, uint32_t at[], struct graph_link link[])
{
    uint32_t kept = 0, begin = 0;

    for (uint32_t v = 0; v < n; v++) {
        uint32_t end = at[v + 1], first = kept;

        for (uint32_t i = begin; i < end; i++)
            if (kept > first && link[kept - 1].task == link[i].task)
                link[kept - 1].comm += link[i].comm;
            else
                link[kept++] = link[i];
        begin = end;
        at[v + 1] = kept;
    }
}

static void make_lists(struct graph *g,
                       const struct graph_edge edge[],
                       uint32_t m,
                       uint32_t scratch[])
{
    uint32_t n = g->tasks;

    for (uint32_t i = 0; i < m; i++) {
        g->pred_at[edge[i].to + 1]++;
        g->succ_at[edge[i].from + 1]++;
    }
    lists_from_counts(g->pred_at, n);
    lists_from_counts(g->succ_at, n);
    for (uint32_t v = 0; v < n; v++)
        scratch[v] = g->pred_at[v];
    for (uint32_t i = 0; i < m; i++)
        g->pred[scratch[edge[i].to]++] =
            (struct graph_link){edge[i].from, edge[i].comm};
    /* Turned round twice, both ascend. */
    turn(n, g->pred_at, g->pred, g->succ_at, g->succ, scratch);
    turn(n, g->succ_at, g->succ, g->pred_at, g->pred, scratch);
    join_parallel(n, g->pred_at, g->pred);
    join_parallel(n, g->succ_at, g->succ);
    g->edges = g->pred_at[n];
}

/* --- the topological order ------------------------------------------------ */

/* A heap whose least number is heap[0]. */
static void heap_put(uint32_t heap[], uint32_t *n, uint32_t v)
{
    uint32_t i = (*n)++;

    for (; i > 0 && heap[(i - 1) / 2] > v; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = v;
}

static uint32_t heap_take(uint32_t heap[], uint32_t *n)
{
    uint32_t least = heap[0], v = heap[--*n], i = 0, child;

    while ((child = 2 * i + 1) < *n) {
        if (child + 1 < *n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= v)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = v;
    return least;
}

/* Fill order[] by Kahn's algorithm, always with the ready task of least
 * number; returns how many could be ordered.  waiting[v] ends as the number
 * of predecessors of v that could not. */
static uint32_t kahn(const struct graph *g,
                     uint32_t order[],
                     uint32_t waiting[])
{
    uint32_t done = 0, ready = 0;
    uint32_t *heap = g->rank; /* not needed before the order is known */

    for (uint32_t v = 0; v < g->tasks; v++) {
        waiting[v] = g->pred_at[v + 1] - g->pred_at[v];
        if (waiting[v] == 0)
            heap_put(heap, &ready, v);
    }
    while (ready > 0) {
        uint32_t v = heap_take(heap, &ready);

        order[done++] = v;
        for (uint32_t i = g->succ_at[v]; i < g->succ_at[v + 1]; i++)
            if (--waiting[g->succ[i].task] == 0)
                heap_put(heap, &ready, g->succ[i].task);
    }
    return done;
}

/* A task on a cycle: who goes back from waiting task to waiting task for as
 * many steps as there are tasks is on one. */
static uint32_t find_cycle(const struct graph *g, const uint32_t waiting[])
{
    uint32_t v = 0;

    while (waiting[v] == 0)
        v++;
    for (uint32_t step = 0; step < g->tasks; step++) {
        uint32_t i = g->pred_at[v];

        while (waiting[g->pred[i].task] == 0)
            i++;
        v = g->pred[i].task;
    }
    return v;
}

/* --- what follows from the graph ------------------------------------------ */

/* est, ect and fpred of v, whose predecessors have theirs. */
static void set_earliest(struct graph *g, uint32_t v)
{
    int64_t most = -1, second = 0;
    uint32_t f = GRAPH_NOBODY;

    for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++) {
        uint32_t u = g->pred[i].task;
        int64_t arrival = g->ect[u] + g->pred[i].comm;

        if (arrival > most) {
            second = greater(second, most);
            most = arrival;
            f = u;
        } else {
            second = greater(second, arrival);
        }
    }
    g->fpred[v] = f;
    g->est[v] = f == GRAPH_NOBODY ? 0 : greater(g->ect[f], second);
    g->ect[v] = g->est[v] + g->time[v];
    g->ideal = greater(g->ideal, g->ect[v]);
}

/* level, lact and last of v, whose successors have theirs. */
static void set_latest(struct graph *g, uint32_t v)
{
    g->level[v] = 0;
    g->lact[v] = g->ideal;
    for (uint32_t i = g->succ_at[v]; i < g->succ_at[v + 1]; i++) {
        uint32_t w = g->succ[i].task;
        int64_t comm = g->fpred[w] == v ? 0 : g->succ[i].comm;

        g->level[v] = greater(g->level[v], g->level[w]);
        g->lact[v] = lesser(g->lact[v], g->last[w] - comm);
    }
    g->level[v] += g->time[v];
    g->last[v] = g->lact[v] - g->time[v];
}

/* All of it, from the topological order in ranked[]. */
static void set_parameters(struct graph *g, uint32_t scratch[])
{
    for (uint32_t i = 0; i < g->tasks; i++)
        set_earliest(g, g->ranked[i]);
    for (uint32_t i = g->tasks; i-- > 0;)
        set_latest(g, g->ranked[i]);
    order_descending(g->ranked, scratch, g->tasks, g->level);
    for (uint32_t i = 0; i < g->tasks; i++)
        g->rank[g->ranked[i]] = i;
    for (uint32_t v = 0; v < g->tasks; v++)
        g->total += g->time[v];
    for (uint32_t i = 0; i < g->edges; i++)
        g->total += g->pred[i].comm;
}

/* --- create, destroy ------------------------------------------------------ */

static struct graph *allocate_graph(uint32_t n, uint32_t m)
{
    struct graph *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->tasks = n;
    g->pred_at = calloc(n + 1u, sizeof *g->pred_at);
    g->succ_at = calloc(n + 1u, sizeof *g->succ_at);
    g->pred = calloc(m + 1u, sizeof *g->pred); /* + 1: never of 0 bytes */
    g->succ = calloc(m + 1u, sizeof *g->succ);
    g->fpred = calloc(n, sizeof *g->fpred);
    g->rank = calloc(n, sizeof *g->rank);
    g->ranked = calloc(n, sizeof *g->ranked);
    g->time = calloc(6 * (size_t)n, sizeof *g->time);
    if (!g->pred_at || !g->succ_at || !g->pred || !g->succ || !g->fpred
        || !g->rank || !g->ranked || !g->time) {
        graph_destroy(g);
        return NULL;
    }
    g->level = g->time + n;
    g->est = g->level + n;
    g->ect = g->est + n;
    g->last = g->ect + n;
    g->lact = g->last + n;
    return g;
}

enum graph_fault graph_create(struct graph **g,
                              const int64_t time[],
                              uint32_t n,
                              const struct graph_edge edge[],
                              uint32_t m,
                              uint32_t *place)
{
    uint32_t where = 0, *scratch;
    struct graph *made;
    enum graph_fault fault = check_graph(time, n, edge, m, &where);

    *g = NULL;
    if (place)
        *place = where;
    if (fault != GRAPH_SOUND)
        return fault;
    made = allocate_graph(n, m);
    scratch = calloc(n, sizeof *scratch);
    if (!made || !scratch) {
        fault = GRAPH_MEMORY;
        goto fail;
    }
    for (uint32_t v = 0; v < n; v++)
        made->time[v] = time[v];
    make_lists(made, edge, m, scratch);
    if (kahn(made, made->ranked, scratch) < n) {
        if (place)
            *place = find_cycle(made, scratch);
        fault = GRAPH_CYCLE;
        goto fail;
    }
    set_parameters(made, scratch);
    free(scratch);
    *g = made;
    return GRAPH_SOUND;
fail:
    free(scratch);
    graph_destroy(made);
    return fault;
}

void graph_destroy(struct graph *g)
{
    if (!g)
        return;
    free(g->pred_at);
    free(g->succ_at);
    free(g->pred);
    free(g->succ);
    free(g->fpred);
    free(g->rank);
    free(g->ranked);
    free(g->time);
    free(g->need);
    free(g);
}

int graph_set_needs(struct graph *g, const struct graph_need need[])
{
    struct graph_need *copy = calloc(g->tasks, sizeof *copy);

    if (!copy)
        return -1;
    for (uint32_t v = 0; v < g->tasks; v++)
        copy[v] = need[v];
    free(g->need);
    g->need = copy;
    return 0;
}
