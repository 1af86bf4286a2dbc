/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has what, and what must be done again when a node is lost. */
#include "launcher/graph/graph_state.h"
#include "tap.h"

#include <string.h>

/* 0 makes a (and reads the user's u), 1 takes a and makes b, 2 waits for 0
 * without a file, 3 takes a and b and makes the result r. */
static const int64_t times[] = {1, 1, 1, 1};
static const struct graph_edge edges[] = {
    {0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {1, 3, 0}};
enum { FILE_U, FILE_A, FILE_B, FILE_R, FILES };

static char name[] = "x";
static struct graph_work_file files[] = {
    {name, GRAPH_NOBODY, 1}, {name, 0, 2}, {name, 1, 1}, {name, 3, 0}};
static uint32_t u[] = {FILE_U}, a[] = {FILE_A}, b[] = {FILE_B},
                ab[] = {FILE_A, FILE_B}, r[] = {FILE_R};
static struct graph_work_task tasks[] = {
    {.name = name, .input = u, .inputs = 1, .output = a, .outputs = 1},
    {.name = name, .input = a, .inputs = 1, .output = b, .outputs = 1},
    {.name = name},
    {.name = name, .input = ab, .inputs = 2, .output = r, .outputs = 1}};
static const struct graph_work work = {
    .file = files, .files = FILES, .task = tasks, .tasks = 4};

static struct graph *g;
static struct graph_state s;
static uint8_t delivered[FILES];

static uint32_t place(uint32_t task, uint32_t node)
{
    struct place p = {.task = task, .node = node};

    return graph_state_add(&s, &p);
}

static void finish(uint32_t i)
{
    uint32_t v = s.place[i].task;
    struct holder h = {.node = s.place[i].node, .from = HOLDER_HERE};

    graph_state_end(&s, i, PLACE_DONE);
    for (uint32_t k = 0; k < tasks[v].outputs; k++)
        (void)graph_state_hold(&s, tasks[v].output[k], &h);
    (void)graph_state_hold(&s, graph_state_task_token(&s, v), &h);
    s.tasks_done += !s.task[v].done;
    s.task[v].done = 1;
}

static void begin(void)
{
    graph_state_clear(&s);
    if (graph_state_init(&s, g, &work, 3) < 0)
        bail("no memory");
    memset(delivered, 0, sizeof delivered);
}

static void test_tokens(void)
{
    begin();
    ok(s.task[0].tokens == 1 && s.task[0].token[0] == FILE_U,
       "a task waits for the user's file");
    ok(s.task[2].tokens == 1
           && s.task[2].token[0] == graph_state_task_token(&s, 0),
       "for a task, if that gives it no file");
    ok(s.task[3].tokens == 2, "and for files, not for their makers besides");
    ok(graph_state_maker(&s, FILE_U) == GRAPH_NOBODY
           && graph_state_maker(&s, FILE_R) == 3
           && graph_state_maker(&s, graph_state_task_token(&s, 2)) == 2,
       "who makes each is known");
}

static void test_holders(void)
{
    struct holder h = {.node = 1, .from = 2};

    begin();
    (void)graph_state_hold(&s, FILE_A, &h);
    ok(graph_state_holder(&s, FILE_A, 1) && !graph_state_holder(&s, FILE_A, 2)
           && !graph_state_source(&s, FILE_A, GRAPH_NOBODY),
       "what is on its way is no source yet");
    h.from = HOLDER_HERE;
    (void)graph_state_hold(&s, FILE_A, &h);
    ok(s.token[FILE_A].holders == 1
           && graph_state_source(&s, FILE_A, GRAPH_NOBODY)->node == 1
           && !graph_state_source(&s, FILE_A, 1),
       "what is here is one, but not for itself");
    graph_state_let_go(&s, FILE_A, 0);
    graph_state_let_go(&s, FILE_A, 1);
    ok(s.token[FILE_A].holders == 0, "and is let go");
}

static void test_places(void)
{
    uint32_t first, second;

    begin();
    first = place(0, 1);
    second = place(0, 2);
    ok(graph_state_waiting(&s, 0, 1) == first
           && graph_state_waiting(&s, 0, 2) == second
           && graph_state_waiting(&s, 0, 0) == GRAPH_NOBODY && s.waiting == 2,
       "a task may wait in two places");
    graph_state_lose(&s, 1);
    ok(graph_state_waiting(&s, 0, 1) == GRAPH_NOBODY
           && graph_state_waiting(&s, 0, GRAPH_NOBODY) == second
           && s.waiting == 1 && !s.usable[1],
       "a lost node takes its own along");
    begin();
    first = place(0, 1);
    second = place(2, 1);
    ok(graph_state_may_run(&s, first) && !graph_state_may_run(&s, second),
       "a core is at the first of what waits there");
    finish(first);
    ok(graph_state_may_run(&s, second) && !graph_state_may_run(&s, place(3, 2)),
       "then at the next, and at nothing whose inputs are to be made");
}

static void test_losses(void)
{
    struct holder on_2 = {.node = 2, .from = HOLDER_HERE};

    begin();
    finish(place(0, 0));
    finish(place(1, 0));
    (void)place(3, 1);
    graph_state_lose(&s, 0);
    graph_state_review(&s, delivered);
    ok(!s.task[0].done && !s.task[1].done && s.tasks_done == 0,
       "what only a lost node had, and another waits for, is made again");

    begin();
    finish(place(0, 0));
    finish(place(1, 0));
    (void)graph_state_hold(&s, FILE_B, &on_2);
    (void)place(3, 1);
    graph_state_lose(&s, 0);
    graph_state_review(&s, delivered);
    ok(!s.task[0].done && s.task[1].done, "not what another node has, too");

    begin();
    finish(place(0, 0));
    finish(place(1, 0));
    on_2.node = 1;
    (void)graph_state_hold(&s, FILE_A, &on_2);
    (void)graph_state_hold(&s, FILE_B, &on_2);
    (void)place(3, 1);
    graph_state_lose(&s, 0);
    graph_state_review(&s, delivered);
    ok(s.task[0].done && s.task[1].done, "nor what is where it is needed");

    begin();
    finish(place(0, 0));
    finish(place(1, 0));
    finish(place(2, 0));
    finish(place(3, 0));
    graph_state_lose(&s, 0);
    graph_state_review(&s, delivered);
    ok(!s.task[3].done && !s.task[1].done && !s.task[0].done && s.task[2].done,
       "a result that was not delivered, and all that it takes");

    begin();
    finish(place(0, 0));
    finish(place(1, 0));
    finish(place(3, 0));
    delivered[FILE_R] = 1;
    graph_state_lose(&s, 0);
    graph_state_review(&s, delivered);
    ok(s.task[3].done && s.task[1].done && s.task[0].done,
       "of one that was nothing is missed");
}

int main(void)
{
    if (graph_create(&g, times, 4, edges, 4, NULL) != GRAPH_SOUND)
        bail("no graph");
    test_tokens();
    test_holders();
    test_places();
    test_losses();
    graph_state_clear(&s);
    graph_destroy(g);
    return done();
}
