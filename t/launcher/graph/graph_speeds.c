/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_speeds.h"
#include "launcher/graph/graph_learn.h"
#include "tap.h"

#include <math.h>

#define NODES 4

static const struct {
    const char *what;
    double measured[NODES];
    uint32_t own[NODES];
    double slowness[NODES];
} cases[] = {
    {"a node of half the speed takes twice as long",
     {8, 4, 2, 1},
     {1, 1, 1, 1},
     {1, 2, 4, 8}},
    {"it is of a core: more cores make no task faster",
     {8, 16, 2, 4},
     {8, 16, 8, 4},
     {1, 1, 4, 1}},
    {"two probes of one node differ by a fifth: all are alike",
     {10, 9, 8.4, 10},
     {2, 2, 2, 2},
     {1, 1, 1, 1}},
    {"a node of which nothing is known: all are alike",
     {8, 4, NAN, 1},
     {1, 1, 1, 1},
     {1, 1, 1, 1}},
    {"nothing is known of any", {0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}},
};

static void test_speeds(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct processor_kind kind[NODES] = {{0}};
        int right = 1;

        graph_speeds_of(cases[i].measured, cases[i].own, kind, NODES);
        for (int k = 0; k < NODES; k++)
            right &= fabs(kind[k].slowness - cases[i].slowness[k]) < 1e-9;
        ok(right, "%s", cases[i].what);
    }
}

/* Three tasks, of which the last ran on both nodes. */
static void test_learnt(void)
{
    static const int64_t time[] = {1, 1, 1};
    static const struct place places[] = {
        {.task = 0, .node = 0, .start = 0, .finish = 2000000000},
        {.task = 1, .node = 1, .start = 0, .finish = 8000000000},
        {.task = 2, .node = 0, .start = 2000000000, .finish = 3000000000},
        {.task = 2, .node = 1, .start = 8000000000, .finish = 16000000000},
    };
    static struct processor_kind kind[] = {{1, 1, 0}, {4, 1, 0}};
    struct machine machine = {.processors = 2, .cores = 1, .kind = kind};
    struct graph_work work = {.tasks = 3};
    struct graph_work_task tasks[3] = {{0}};
    struct graph_measured m = {0};
    struct graph_state s;
    struct graph *g;

    if (graph_create(&g, time, 3, NULL, 0, NULL) != GRAPH_SOUND)
        bail("no graph");
    work.task = tasks;
    if (graph_measured_init(&m, 3, 0) < 0
        || graph_state_init(&s, g, &work, 2) < 0)
        bail("no memory");
    for (size_t i = 0; i < 4; i++) {
        uint32_t at = graph_state_add(&s, &places[i]);

        if (at == GRAPH_NOBODY)
            bail("no memory");
        s.place[at].state = PLACE_DONE;
        s.place[at].start = places[i].start;
        s.place[at].finish = places[i].finish;
    }
    graph_measured_tasks(&m, &s, &machine);
    is_near(m.seconds[0], 2, 1e-9, "learnt on the fastest node: as it was");
    is_near(m.seconds[1], 2, 1e-9,
            "on one of a quarter of its speed: as it would be on that");
    is_near(m.seconds[2], 1.5, 1e-9, "on both: the mean");
    graph_measured_clear(&m);
    graph_state_clear(&s);
    graph_destroy(g);
}

int main(void)
{
    test_speeds();
    test_learnt();
    return done();
}
