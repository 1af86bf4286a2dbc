/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is no task graph; the parameters, the paths and the dependences of
 * nine_tasks.h, found by hand.
 */
#include "policy/graph.h"
#include "fenced.h"
#include "policy/grouping.h"
#include "tap.h"

#include "drawn_graph.h"
#include "nine_tasks.h"

static const struct {
    const char *what;
    int64_t time[3];
    uint32_t n;
    struct graph_edge edge[4];
    uint32_t m;
    enum graph_fault fault;
    uint32_t place;
} bad[] = {
    {"no task", {0}, 0, {{0}}, 0, GRAPH_TASKS, 0},
    {"a negative time", {1, -1}, 2, {{0}}, 0, GRAPH_TASK, 1},
    {"an edge from nowhere",
     {1, 1},
     2,
     {{0, 1, 0}, {2, 1, 0}},
     2,
     GRAPH_EDGE,
     1},
    {"an edge to nowhere", {1, 1}, 2, {{0, 2, 0}}, 1, GRAPH_EDGE, 0},
    {"a negative communication", {1, 1}, 2, {{0, 1, -1}}, 1, GRAPH_EDGE, 0},
    {"a task that needs itself", {1, 1}, 2, {{1, 1, 0}}, 1, GRAPH_CYCLE, 1},
    {"two tasks that need each other",
     {1, 1, 1},
     3,
     {{0, 1, 0}, {1, 2, 0}, {2, 1, 0}},
     3,
     GRAPH_CYCLE,
     2},
    {"a cycle far behind the first that waits",
     {1, 1, 1},
     3,
     {{1, 0, 0}, {2, 1, 0}, {2, 2, 0}},
     3,
     GRAPH_CYCLE,
     2},
    {"a time above the sum",
     {1, GRAPH_TOTAL_MAX},
     2,
     {{0}},
     0,
     GRAPH_TOO_LONG,
     1},
    {"a communication above the sum",
     {1, 1},
     2,
     {{0, 1, GRAPH_TOTAL_MAX - 1}},
     1,
     GRAPH_TOO_LONG,
     0},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct graph *g;
        uint32_t place = 77;

        ok(graph_create(&g, bad[i].time, bad[i].n, bad[i].edge, bad[i].m,
                        &place)
                   == bad[i].fault
               && !g && place == bad[i].place,
           "%s is refused, at its place", bad[i].what);
    }
}

/* The largest that may be, told by the fault that is found after them. */
static void test_bounds(void)
{
    static const int64_t all = GRAPH_TOTAL_MAX, minus = -1, none[2];
    static const struct graph_edge nowhere = {9, 9, 0},
                                   most = {0, 1, GRAPH_TOTAL_MAX};
    uint32_t place;
    struct graph *g;

    is_int(graph_create(&g, &minus, GRAPH_TASKS_MAX, NULL, 0, &place),
           GRAPH_TASK, "as many tasks as may be");
    is_int(graph_create(&g, &minus, GRAPH_TASKS_MAX + 1, NULL, 0, &place),
           GRAPH_TASKS, "and one more");
    is_int(graph_create(&g, none, 2, &nowhere, GRAPH_EDGES_MAX, &place),
           GRAPH_EDGE, "as many edges as may be");
    is_int(graph_create(&g, none, 2, &nowhere, GRAPH_EDGES_MAX + 1, &place),
           GRAPH_EDGES, "and one more");
    is_int(graph_create(&g, &all, 1, NULL, 0, &place), GRAPH_SOUND,
           "a task as long as all may be");
    ok(g->ideal == all && g->total == all, "is all of it");
    graph_destroy(g);
    is_int(graph_create(&g, none, 2, &most, 1, NULL), GRAPH_SOUND,
           "a communication as long as all may be");
    ok(g->total == all && g->ideal == 0, "is spared on one processor");
    graph_destroy(g);
}

static void test_edges(void)
{
    static const int64_t time[] = {1, 1, 1};
    static const struct graph_edge edge[] = {
        {2, 1, 5}, {0, 1, 2}, {0, 1, 3}, {0, 2, 0}};
    struct graph *g;

    if (graph_create(&g, time, 3, edge, 4, NULL) != GRAPH_SOUND)
        bail("refused");
    ok(g->edges == 3 && g->pred_at[2] - g->pred_at[1] == 2
           && g->pred[g->pred_at[1]].task == 0
           && g->pred[g->pred_at[1]].comm == 5
           && g->pred[g->pred_at[1] + 1].task == 2
           && g->succ[g->succ_at[0]].comm == 5,
       "parallel edges add, and neighbours ascend");
    ok(g->ranked[0] == 0 && g->ranked[1] == 2 && g->ranked[2] == 1,
       "the order is not that of the input but that of the edges");
    is_int(g->total, 13, "the total is that of all times");
    graph_destroy(g);
}

static void test_parameters(const struct graph *g)
{
    /* level est ect last lact fpred, by hand */
    static const int64_t want[9][6] = {
        {11, 0, 2, 0, 2, -1}, {8, 2, 5, 2, 5, 1},    {8, 2, 5, 5, 8, 1},
        {9, 2, 6, 7, 11, 1},  {6, 2, 7, 8, 13, 1},   {5, 5, 9, 6, 10, 2},
        {5, 5, 9, 5, 9, 2},   {5, 8, 12, 11, 15, 4}, {1, 15, 16, 15, 16, 8},
    };

    for (uint32_t v = 0; v < 9; v++)
        ok(g->level[v] == want[v][0] && g->est[v] == want[v][1]
               && g->ect[v] == want[v][2] && g->last[v] == want[v][3]
               && g->lact[v] == want[v][4]
               && (g->fpred[v] == GRAPH_NOBODY
                       ? want[v][5] == -1
                       : (int64_t)g->fpred[v] + 1 == want[v][5]),
           "task %u: level, est, ect, last, lact, fpred as by hand", v + 1);
    is_int(g->ideal, 16, "the ideal is 16");
}

static void test_order(const struct graph *g)
{
    static const uint32_t queue[] = {9, 8, 7, 6, 5, 3, 2, 4, 1};
    int same = 1;

    for (uint32_t i = 0; i < 9; i++)
        same &= g->ranked[8 - i] + 1 == queue[i] && g->rank[g->ranked[i]] == i;
    ok(same, "the queue is 9, 8, 7, 6, 5, 3, 2, 4, 1");
}

/* --- what follows, by its definitions ------------------------------------- */

static int neighbours_are(const struct graph *g, const struct drawn *t)
{
    uint32_t in = 0, out = 0;

    for (uint32_t v = 0; v < t->n; v++) {
        for (uint32_t u = 0; u < t->n; u++) {
            if (t->comm[u][v] >= 0
                && (g->pred[in].task != u
                    || g->pred[in++].comm != t->comm[u][v]))
                return 0;
            if (t->comm[v][u] >= 0
                && (g->succ[out].task != u
                    || g->succ[out++].comm != t->comm[v][u]))
                return 0;
        }
        if (g->pred_at[v + 1] != in || g->succ_at[v + 1] != out)
            return 0;
    }
    return g->edges == in && in == out;
}

/* est, ect, fpred of v: the favourite is the one whose result would come last,
   and spares its message. */
static int earliest_is(const struct graph *g, const struct drawn *t, uint32_t v)
{
    uint32_t f = GRAPH_NOBODY;
    int64_t est = 0;

    for (uint32_t u = 0; u < t->n; u++)
        if (t->comm[u][v] >= 0
            && (f == GRAPH_NOBODY
                || g->ect[u] + t->comm[u][v] > g->ect[f] + t->comm[f][v]))
            f = u;
    for (uint32_t u = 0; u < t->n; u++)
        if (t->comm[u][v] >= 0) {
            int64_t there = g->ect[u] + (u == f ? 0 : t->comm[u][v]);

            est = there > est ? there : est;
        }
    return g->fpred[v] == f && g->est[v] == est && g->ect[v] == est + t->time[v]
           && g->ect[v] <= g->ideal;
}

static int latest_is(const struct graph *g, const struct drawn *t, uint32_t v)
{
    int64_t level = 0, lact = g->ideal;

    for (uint32_t w = 0; w < t->n; w++)
        if (t->comm[v][w] >= 0) {
            int64_t comm = g->fpred[w] == v ? 0 : t->comm[v][w];

            level = g->level[w] > level ? g->level[w] : level;
            lact = g->last[w] - comm < lact ? g->last[w] - comm : lact;
        }
    return g->level[v] == level + t->time[v] && g->lact[v] == lact
           && g->last[v] == lact - t->time[v];
}

/* Topologically, always the least number that is ready, then by level. */
static int order_is(const struct graph *g, const struct drawn *t)
{
    uint32_t place[DRAWN_TASKS] = {0}, placed = 0;
    int is_out[DRAWN_TASKS] = {0};

    while (placed < t->n) {
        uint32_t v = 0;

        for (;; v++) {
            int ready = !is_out[v];

            for (uint32_t u = 0; u < t->n; u++)
                ready &= t->comm[u][v] < 0 || is_out[u];
            if (ready)
                break;
        }
        is_out[v] = 1;
        place[v] = placed++;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t v = g->ranked[i], before = i > 0 ? g->ranked[i - 1] : v;

        if (g->rank[v] != i || g->level[before] < g->level[v]
            || (g->level[before] == g->level[v] && place[before] > place[v]))
            return 0;
    }
    return 1;
}

static void test_definitions(void)
{
    int neighbours = 1, earliest = 1, latest = 1, order = 1, ideal = 1;

    for (int round = 0; round < 2000; round++) {
        struct drawn t;
        struct graph *g = draw_graph(&t);
        int64_t most = 0;

        neighbours &= neighbours_are(g, &t);
        order &= order_is(g, &t);
        for (uint32_t v = 0; v < t.n; v++) {
            earliest &= earliest_is(g, &t, v);
            latest &= latest_is(g, &t, v);
            most = g->ect[v] > most ? g->ect[v] : most;
        }
        ideal &= most == g->ideal;
        graph_destroy(g);
    }
    ok(neighbours, "2000 random graphs: neighbours ascend, parallel edges add");
    ok(earliest, "each task's earliest start, completion, and favourite");
    ok(latest, "each task's level, latest start and completion");
    ok(order, "by level, equals topologically and by number");
    ok(ideal, "the ideal is when the last is complete");
}

static void test_dependences(const struct graph *g)
{
    static const int64_t want[5][5] = {{11, 9, 8, 5, 6},
                                       {12, 9, 6, 6, 6},
                                       {11, 6, 9, 6, 6},
                                       {5, 3, 3, 7, 3},
                                       {7, 4, 4, 4, 5}};
    struct path_rule rule = {PATH_TDS, 0, 10, 5};
    struct graph_paths p;
    int same = 1;

    if (graph_paths_init(&p, g, &rule) != PATH_SOUND)
        bail("no memory");
    is_int(p.n, 5, "TDS makes five paths");
    for (uint32_t a = 0; a < 5; a++)
        for (uint32_t b = 0; b < 5; b++)
            same &= grouping_dependence(g, &p, a, b) == want[a][b];
    ok(same, "their dependences are those found by hand");
    is_int(grouping_dependence(g, &p, 4, 0), 7, "DF(L5,L1) is 7");
    graph_paths_clear(&p);
}

int main(void)
{
    struct graph *g;

    fence_on = 1;
    test_bad();
    test_bounds();
    test_edges();
    test_definitions();
    if (graph_create(&g, nine_times, 9, nine_edges, 12, NULL) != GRAPH_SOUND)
        bail("the nine tasks are refused");
    test_parameters(g);
    test_order(g);
    test_dependences(g);
    graph_destroy(g);
    return done();
}
