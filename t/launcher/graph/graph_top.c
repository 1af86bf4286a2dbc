/* SPDX-License-Identifier: BSD-2-Clause */
/* What evenstep top is told of each node of a task graph. */
#include "launcher/graph/graph_top.h"
#include "tap.h"

#include <string.h>

/* 0 -> 2, 1 -> 3; 4 alone. */
static const int64_t times[] = {5, 5, 5, 5, 5};
static const struct graph_edge edges[] = {{0, 2, 0}, {1, 3, 0}};
static char name[] = "x";
static struct graph_work_task tasks[] = {{.name = name},
                                         {.name = name},
                                         {.name = name},
                                         {.name = name},
                                         {.name = name}};
static const struct graph_work work = {.task = tasks, .tasks = 5};

enum { NODES = 3, CORES = 2 };
#define S INT64_C(1000000000)

static struct graph *g;
static struct graph_state s;
static struct top_part part[NODES];
static uint32_t next[NODES * CORES];

static uint32_t place(uint32_t task, uint32_t node, uint32_t core, int64_t from)
{
    struct place p = {.task = task,
                      .node = node,
                      .core = core,
                      .planned_start = from,
                      .planned_finish = from + 5 * S};

    return graph_state_add(&s, &p);
}

/* Node 0 has 0, then 2; node 1 has 1 and 4 at once, then 3; node 2 nothing. */
static void begin(void)
{
    graph_state_clear(&s);
    if (graph_state_init(&s, g, &work, NODES) < 0)
        bail("no memory");
    (void)place(0, 0, 0, 0);
    (void)place(1, 1, 0, 0);
    (void)place(2, 0, 0, 5 * S);
    (void)place(3, 1, 0, 5 * S);
    (void)place(4, 1, 1, 0);
}

static void look(int64_t now)
{
    graph_top_parts(part, next, &s, CORES, now);
}

static void done_by(uint32_t i)
{
    graph_state_end(&s, i, PLACE_DONE);
    s.task[s.place[i].task].done = 1;
}

static void test_begin(void)
{
    begin();
    look(1 * S);
    is_int((int)part[0].running, 1, "a task whose inputs are there is at work");
    is_int((int)part[0].waiting, 1, "what takes from it waits");
    is_int((int)part[1].running, 2, "one a core");
    is_int((int)part[1].part, 3, "its part are all that it has");
    is_near(part[0].left, 9, 1e-9, "until its last task is done, as planned");
    ok(part[0].state == TOP_WORKING && part[2].state == TOP_IDLE,
       "who has nothing is idle");
    is_int((int)part[1].slots, CORES, "and could do so much at once");
}

static void test_late(void)
{
    begin();
    look(7 * S);
    is_near(part[0].left, 3 + 2, 1e-9, "what is late moves what is behind it");
}

static void test_order(void)
{
    begin();
    done_by(0);
    done_by(4);
    look(5 * S);
    ok(part[0].running > 0 && part[0].waiting < 1, "the next is at work");
    is_near(part[0].rate, 0.2, 1e-9, "tasks a second");
    is_int((int)part[1].running, 1, "a core has nothing any more");
    done_by(2);
    look(6 * S);
    ok(part[0].state == TOP_DONE && part[0].left <= 0,
       "all of its part is done");
    is_int((int)part[0].done, 2, "which were two tasks");
}

static void test_lost(void)
{
    begin();
    done_by(0);
    graph_state_lose(&s, 0);
    look(5 * S);
    ok(part[0].state == TOP_LOST, "a node is lost");
    is_int((int)part[0].part, 1, "and what it had to do with it");
}

/* A node that came back late may have more cores than the plan knows of. */
static void test_core(void)
{
    begin();
    (void)place(4, 2, CORES, 0);
    look(1 * S);
    ok(part[2].waiting > 0 && part[2].running < 1,
       "a core that is none counts for nothing");
}

int main(void)
{
    if (graph_create(&g, times, 5, edges, 2, NULL) != GRAPH_SOUND)
        bail("no graph");
    test_begin();
    test_late();
    test_order();
    test_lost();
    test_core();
    graph_state_clear(&s);
    graph_destroy(g);
    return done();
}
