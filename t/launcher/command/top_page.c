/* SPDX-License-Identifier: BSD-2-Clause */
/* What people see of a run, a broadcast and a graph, line by line. */
#include "launcher/command/top_page.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 1000 }; /* nodes */

static struct top_part part(const char *name, enum top_state state)
{
    struct top_part p = {.state = state,
                         .slots = 2,
                         .running = 1,
                         .part = 180,
                         .done = 90,
                         .underway = 40,
                         .total = 640,
                         .rate = 14.2,
                         .left = 6,
                         .waiting = 40};

    snprintf(p.name, sizeof p.name, "%s", name);
    return p;
}

static struct top_step run_of(struct top_part parts[], size_t n)
{
    struct top_step s = {.kind = TOP_RUN,
                         .what = "povray",
                         .pid = 4711,
                         .job = 12,
                         .step = 1,
                         .part = parts,
                         .parts = n,
                         .progress = {.frame = 1,
                                      .frames = 6,
                                      .done = 1080,
                                      .all = 4320,
                                      .rate = 58.3,
                                      .left = 55.5,
                                      .elapsed = 18.5,
                                      .planned = -1,
                                      .efficiency = 0.93,
                                      .gain = 2.3}};

    return s;
}

static void test_run(void)
{
    struct top_part parts[3] = {part("n2", TOP_WORKING), part("n10", TOP_LOST),
                                part("n9", TOP_WORKING)};
    struct top_step s;
    struct top_page page = {.n = 0};
    char line[TOP_LINE];

    parts[0].left = 3;
    parts[1].rate = parts[1].left = -1;
    s = run_of(parts, 3);
    top_page_progress(&page, &s, 80);
    top_page_parts(&page, &s, TOP_BY_LAG, 80);
    top_page_meters(&page, &s, TOP_BY_LAG, 80, 3);
    is_int((int)page.n, 7, "a line a node, and four above");
    is_int((int)page.head, 4, "which do not scroll");
    is_str(page.line[0],
           "run 12.1 povray: 3 nodes, 0:19 so far, gain 2.30, efficiency 0.93",
           "what it is");
    is_str(page.line[1],
           "[#####...............] frame 2 of 6, 1080/4320 units, 58.3/s, "
           "0:56 left",
           "how far it is");
    is_str(page.line[2],
           "2 working, 1 lost; units/s: min 14.2, median 14.2, mean 14.2",
           "all nodes in a line");
    is_str(page.line[3],
           "node            state                        slice  units/s    "
           "left    at in all",
           "the columns");
    is_str(page.line[4],
           "n10             lost    #####++...          90/180        -     "
           "  -   1/2    640",
           "who is lost stands first");
    is_str(page.line[5],
           "n9              working #####++...          90/180     14.2    "
           "0:06   1/2    640",
           "then who is last");
    ok(strncmp(page.line[6], "n2 ", 3) == 0, "and who is first last");
    for (size_t i = 0; i < page.n; i++)
        ok(strlen(page.line[i]) <= 80, "line %zu fits a terminal", i);
    top_page_clear(&page);
    top_page_parts(&page, &s, TOP_BY_NAME, 80);
    ok(strncmp(page.line[1], "n2 ", 3) == 0
           && strncmp(page.line[3], "n10 ", 4) == 0,
       "by name 9 comes before 10");
    top_page_clear(&page);
    top_page_parts(&page, &s, TOP_BY_WAITING, 80);
    ok(strncmp(page.line[1], "n2 ", 3) == 0, "who will wait first");
    top_page_clear(&page);
    strcpy(s.progress.energy, "measured");
    s.progress.joules = 15410;
    s.progress.watts = 833;
    top_title_line(line, &s);
    is_str(line,
           "run 12.1 povray: 3 nodes, 0:19 so far, gain 2.30, "
           "efficiency 0.93, 833 W, 15.41 kJ measured",
           "what it has used, where that is known");
    top_longest_line(line, &s, 80);
    is_str(line, "", "no task runs");
    s.progress.longest =
        (struct top_longest){"cmds:4: sleep 99; echo done", "n2", 75};
    top_longest_line(line, &s, 80);
    is_str(line, "longest: 1:15 on n2: cmds:4: sleep 99; echo done",
           "the one that runs for longest");
    top_longest_line(line, &s, 30);
    is_str(line, "longest: 1:15 on n2: cmds:4: s", "which fits");
}

static void test_order(void)
{
    struct top_part parts[6] = {
        part("done", TOP_DONE),       part("idle", TOP_IDLE),
        part("late", TOP_WORKING),    part("bad", TOP_BAD),
        part("unknown", TOP_LEAVING), part("less", TOP_WORKING)};
    static const char *const want[6] = {"bad",  "unknown", "less",
                                        "late", "idle",    "done"};
    struct top_step s;

    parts[4].left = -1;
    parts[5].done = 10;
    s = run_of(parts, 6);
    top_parts_sort(&s, TOP_BY_LAG);
    for (size_t i = 0; i < 6; i++)
        is_str(s.part[i].name, want[i], "by lag");
    s.part[3].rate = 0.5;
    top_parts_sort(&s, TOP_BY_SPEED);
    is_str(s.part[0].name, "late", "the slowest first");
}

static void test_bcast(void)
{
    struct top_part parts[1] = {part("n0", TOP_WORKING)};
    struct top_step s = run_of(parts, 1);
    char line[TOP_LINE];

    s.kind = TOP_BCAST;
    s.job = 0;
    strcpy(s.what, "input.tar");
    s.progress = (struct top_progress){.done = 12.34e9,
                                       .all = 40e9,
                                       .rate = 1.2e9,
                                       .left = 23,
                                       .elapsed = 5,
                                       .planned = -1,
                                       .efficiency = -1,
                                       .gain = -1};
    parts[0].part = 999.6e6;
    parts[0].done = 250e6;
    parts[0].underway = 60e6;
    parts[0].rate = 115e6;
    top_title_line(line, &s);
    is_str(line, "bcast (pid 4711) input.tar: 1 node, 0:05 so far",
           "outside Slurm it is known by its process");
    top_bar_line(line, &s, 80);
    is_str(line,
           "[######..............] 12.3 GB of 40.0 GB, 1.2 GB/s, 0:23 left",
           "bytes are told as people do");
    top_part_line(line, &s, &parts[0], 80);
    is_str(
        line,
        "n0              working ##+.......   250 MB/1.0 GB   115 MB    0:06 "
        "  25%",
        "the share of a node");
    top_list_line(line, &s);
    is_str(line,
           "bcast (pid 4711) input.tar              30.9%  1 nodes, 0:23 "
           "left",
           "in a list");
}

static void test_idle(void)
{
    struct top_part parts[3] = {part("n0", TOP_IDLE), part("n1", TOP_IDLE),
                                part("n2", TOP_WORKING)};
    struct top_step s = run_of(parts, 3);
    char line[TOP_LINE];

    for (size_t i = 0; i < 3; i++) {
        s.part[i].rate = -1;
        s.part[i].why = i < 2 ? IDLE_NOTHING_LEFT : IDLE_NOT;
    }
    top_sum_line(line, &s);
    is_str(line, "1 working, 2 idle; idle: nothing is left for it",
           "nodes that have nothing to do, and why");
    s.part[1].why = IDLE_NO_SHARE;
    top_sum_line(line, &s);
    is_str(line,
           "1 working, 2 idle; idle: 1: its load is 0, 1: nothing is "
           "left for it",
           "of more reasons each has its number");
}

static void test_graph(void)
{
    struct top_part parts[1] = {part("n0", TOP_IDLE)};
    struct top_step s = run_of(parts, 1);
    char line[TOP_LINE];

    s.kind = TOP_GRAPH;
    s.progress.gain = s.progress.efficiency = s.progress.left = -1;
    s.progress.planned = 61;
    s.progress.rate = 0;
    top_title_line(line, &s);
    is_str(line, "graph 12.1 povray: 1 node, 0:19 so far of 1:01 planned",
           "a graph has a plan");
    top_bar_line(line, &s, 80);
    is_str(line, "[#####...............] 1080 of 4320 tasks",
           "what is not known is not told");
    top_part_line(line, &s, &parts[0], 100);
    ok(strlen(line) == 100 && strstr(line, "  1/2     40"),
       "tasks that wait; a wider terminal has room for longer names");
}

static void test_tasks(void)
{
    struct top_part parts[1] = {part("n0", TOP_WORKING)};
    struct top_step s = run_of(parts, 1);
    char line[TOP_LINE];

    s.progress.are_tasks = 1;
    s.progress.frame = 0;
    s.progress.frames = 1;
    s.progress.failed = 3;
    top_bar_line(line, &s, 80);
    ok(strstr(line, "] 1080/4320 tasks, 3 failed, 58.3/s, 0:56 left"),
       "a run of tasks: how many have failed");
    top_sum_line(line, &s);
    is_str(line, "1 working; tasks/s: min 14.2, median 14.2, mean 14.2",
           "and how fast they go");
    top_part_head(line, &s, 80);
    ok(strstr(line, "tasks/s"), "at the nodes, too");
}

/* 80x24, and far more nodes than that. */
static void test_many(void)
{
    struct top_part *parts = calloc(MANY, sizeof *parts);
    struct top_step s;
    struct top_page page = {.n = 0};
    char name[16];
    size_t most = 0;

    for (size_t i = 0; parts && i < MANY; i++) {
        snprintf(name, sizeof name, "node%04zu", i);
        parts[i] = part(name, TOP_WORKING);
        parts[i].left = i == 777 ? 500 : (double)(i % 50);
    }
    s = run_of(parts, MANY);
    top_page_progress(&page, &s, 80);
    top_page_parts(&page, &s, TOP_BY_LAG, 80);
    is_int((int)page.n, MANY + 4, "a line each");
    ok(strncmp(page.line[4], "node0777 ", 9) == 0,
       "the last one is seen first");
    for (size_t i = 0; i < page.n; i++)
        most = strlen(page.line[i]) > most ? strlen(page.line[i]) : most;
    ok(most <= 80, "and all fit");
    top_page_clear(&page);
    free(parts);
}

/* A metered step of many nodes and racks: those that matter are seen. */
static void test_many_metered(void)
{
    struct top_node *nodes = calloc(MANY, sizeof *nodes);
    struct top_step s = {.kind = TOP_STEP,
                         .job = 41,
                         .node = nodes,
                         .n = MANY,
                         .meter = "mpi",
                         .has_saved = 1,
                         .saved = 8120};
    struct top_page page = {.n = 0};
    size_t most = 0;

    if (!nodes)
        bail("no memory");
    for (size_t i = 0; i < MANY; i++) {
        nodes[i] = (struct top_node){.progress = 12.5,
                                     .speed = i == 777 ? 0.01 : 1,
                                     .limit = 400000,
                                     .unit = "us/s",
                                     .energy = "measured",
                                     .joules = 1200,
                                     .seconds = 6.5,
                                     .ranks = {.n = 2,
                                               .useful = 20,
                                               .waiting = 5,
                                               .most = 10,
                                               .elapsed = 12.5}};
        snprintf(nodes[i].name, sizeof nodes->name, "node%04zu", i);
        snprintf(nodes[i].rack, sizeof nodes->rack, "rack%02zu", i / 40);
    }
    nodes[431].is_lost = 1;
    nodes[431].lost = 3.1;
    top_page_meters(&page, &s, TOP_BY_LAG, 80, 3);
    ok(page.head == 7 && page.n == 7 + MANY + 22,
       "three racks of 25 stand above the nodes, the others below");
    is_str(page.line[1], "  1.846e+05 W, 1200 kJ measured, 8.12 kJ saved",
           "the line of the step is folded");
    ok(strncmp(page.line[3], "rack rack19: ", 13) == 0, "the slowest first");
    is_str(page.line[7],
           "node0431            2  80.0%    0.0%       0.80     0   1.000  "
           "lost after 3.1 s",
           "who is lost stands first");
    for (size_t i = 0; i < page.n; i++)
        most = strlen(page.line[i]) > most ? strlen(page.line[i]) : most;
    ok(most <= 80, "and all fit");
    top_page_clear(&page);
    free(nodes);
}

/* Of a metered step there is nothing but its meters. */
static void test_step(void)
{
    struct top_node node = {.name = "n0", .progress = 2.5, .speed = 1};
    struct top_step s = {.kind = TOP_STEP, .job = 1, .node = &node, .n = 1};
    struct top_page page = {.n = 0};

    top_page_progress(&page, &s, 80);
    top_page_parts(&page, &s, TOP_BY_LAG, 80);
    is_int((int)page.n, 0, "a step has no parts");
    top_page_meters(&page, &s, TOP_BY_LAG, 80, 3);
    ok(page.n == 4 && page.head == 3
           && strncmp(page.line[0], "step 1.0: 1 nodes", 17) == 0
           && strstr(page.line[3], " #####..... "),
       "but meters");
    top_page_clear(&page);
}

int main(void)
{
    test_run();
    test_order();
    test_bcast();
    test_idle();
    test_graph();
    test_tasks();
    test_many();
    test_many_metered();
    test_step();
    return done();
}
