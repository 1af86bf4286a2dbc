/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is no task graph; the parameters, the paths and the dependences of
 * nine_tasks.h, found by hand.
 */
#include "policy/graph.h"
#include "policy/grouping.h"
#include "tap.h"

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

    test_bad();
    test_edges();
    if (graph_create(&g, nine_times, 9, nine_edges, 12, NULL) != GRAPH_SOUND)
        bail("the nine tasks are refused");
    test_parameters(g);
    test_order(g);
    test_dependences(g);
    graph_destroy(g);
    return done();
}
