/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A graph that loses a processor: every task has a place again, none on what is
 * lost, the times are possible, and a small one goes where a person would put
 * it.
 */
#include "policy/replan.h"
#include "fenced.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define S   INT64_C(1000000000)
#define MAX 400

static struct instance x[4 * MAX];
static uint8_t is_done[MAX], usable[8];
static uint32_t excluded[MAX], n;
static int64_t makespan;

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct graph *generate(uint32_t tasks, uint64_t *seed)
{
    int64_t time[MAX];
    struct graph_edge edge[3 * MAX];
    uint32_t m = 0;
    struct graph *g = NULL;

    for (uint32_t v = 0; v < tasks; v++) {
        time[v] = (int64_t)draw(seed, 5) * S;
        for (uint32_t k = 0; v > 0 && k < draw(seed, 4); k++)
            edge[m++] = (struct graph_edge){draw(seed, v), v,
                                            (int64_t)draw(seed, 4) * S};
    }
    if (graph_create(&g, time, tasks, edge, m, NULL) != GRAPH_SOUND)
        bail("no graph");
    return g;
}

/* When what the instance waits for is on its processor. */
static int64_t inputs_at(const struct graph *g, const struct instance *i)
{
    int64_t all = 0;

    for (uint32_t e = g->pred_at[i->task]; e < g->pred_at[i->task + 1]; e++) {
        int64_t one = INT64_MAX;

        for (uint32_t k = 0; k < n; k++) {
            int64_t at = x[k].finish;

            if (x[k].task != g->pred[e].task)
                continue;
            if (x[k].processor != i->processor)
                at += g->pred[e].comm;
            if (at < one)
                one = at;
        }
        if (one > all)
            all = one;
    }
    return all;
}

/* By the definition: once at least, not on what is lost, no two at once on a
 * core, nothing before its inputs. */
static int is_possible(const struct graph *g, const struct machine *m)
{
    uint8_t has[MAX] = {0};
    int64_t last = 0;

    for (uint32_t i = 0; i < n; i++) {
        int made = is_done[x[i].task];

        has[x[i].task] = 1;
        if (made) {
            if (x[i].start != 0 || x[i].finish != 0)
                return 0;
            continue;
        }
        if (!usable[x[i].processor] || x[i].core >= m->cores
            || x[i].start < inputs_at(g, &x[i])
            || x[i].finish != x[i].start + g->time[x[i].task])
            return 0;
        for (uint32_t k = 0; k < i; k++)
            if (!is_done[x[k].task] && x[k].processor == x[i].processor
                && x[k].core == x[i].core && x[k].start < x[i].finish
                && x[i].start < x[k].finish)
                return 0;
        if (x[i].finish > last)
            last = x[i].finish;
    }
    for (uint32_t v = 0; v < g->tasks; v++)
        if (!has[v])
            return 0;
    return last == makespan;
}

/* Some are done, some have places, processor 1 is lost. */
static void test_generated(void)
{
    const struct machine m = {.processors = 4, .cores = 2};
    uint64_t seed = 7;
    int good = 0, kept = 1;

    for (int i = 0; i < 60; i++) {
        struct graph *g = generate(1 + draw(&seed, MAX - 1), &seed);
        uint32_t with, some = draw(&seed, g->tasks + 1);
        static struct instance before[MAX];

        n = 0;
        for (uint32_t p = 0; p < 4; p++)
            usable[p] = p != 1;
        for (uint32_t k = 0; k < g->tasks; k++) {
            uint32_t p = draw(&seed, 4);
            uint32_t v = g->ranked[k];

            is_done[v] = k < some;
            if (is_done[v] ? 1 : p != 1)
                x[n++] = (struct instance){v, is_done[v] && p == 1 ? 0 : p,
                                           draw(&seed, 2), 0, 0};
        }
        with = n;
        memcpy(before, x, with * sizeof *x);
        good +=
            replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan) == 0
            && is_possible(g, &m);
        for (uint32_t k = 0; k < with; k++) {
            int there = 0;

            for (uint32_t j = 0; j < n; j++)
                there |= x[j].task == before[k].task
                         && x[j].processor == before[k].processor
                         && (is_done[x[j].task] || x[j].core == before[k].core);
            kept &= there;
        }
        graph_destroy(g);
    }
    is_int(good, 60, "60 graphs: all tasks have places, at possible times");
    ok(kept, "and what had a place keeps it");
}

static const struct instance *first_of(uint32_t task)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].task == task)
            return &x[i];
    return NULL;
}

/* Two halves between a first and a last task, of which the first is done. */
static struct graph *diamond(void)
{
    const int64_t time[] = {1 * S, 4 * S, 4 * S, 1 * S};
    const struct graph_edge edge[] = {
        {0, 1, 2 * S}, {0, 2, 2 * S}, {1, 3, 1 * S}, {2, 3, 1 * S}};
    struct graph *g;

    if (graph_create(&g, time, 4, edge, 4, NULL) != GRAPH_SOUND)
        bail("no graph");
    memset(is_done, 0, sizeof is_done);
    memset(usable, 1, sizeof usable);
    is_done[0] = 1;
    return g;
}

static void test_by_hand(void)
{
    const struct machine m = {.processors = 3, .cores = 1};
    struct graph *g = diamond();

    x[0] = (struct instance){0, 0, 0, 0, 0};
    n = 1;
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), 0,
           "a diamond whose first task is done");
    is_int(makespan, 7 * S, "2 s of message, 4 s, and the last where that was");
    ok(first_of(1)->processor == 0 && first_of(2)->processor == 1,
       "one half where the input is, the other beside it");

    for (int i = 0; i < 4; i++)
        excluded[i] = GRAPH_NOBODY;
    excluded[1] = 0;
    x[0] = (struct instance){0, 0, 0, 0, 0};
    n = 1;
    (void)replan_place(g, &m, is_done, usable, excluded, x, &n, &makespan);
    ok(first_of(1)->processor != 0, "not where it has failed");
    usable[1] = usable[2] = 0;
    x[0] = (struct instance){0, 0, 0, 0, 0};
    n = 1;
    (void)replan_place(g, &m, is_done, usable, excluded, x, &n, &makespan);
    ok(first_of(1)->processor == 0 && makespan == 9 * S,
       "unless there is nowhere else");

    memset(usable, 1, sizeof usable);
    x[0] = (struct instance){0, 2, 0, 0, 0};
    x[1] = (struct instance){2, 0, 0, 0, 0};
    n = 2;
    (void)replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan);
    ok(first_of(2)->processor == 0 && first_of(1)->processor == 2,
       "not behind what has begun, if there is a core that is free");
    graph_destroy(g);
}

static void test_no_place(void)
{
    const struct machine m = {.processors = 3, .cores = 1};
    const struct machine too_many = {.processors = SCHEDULE_CORES_MAX / 2 + 1,
                                     .cores = 2};
    struct graph *g = diamond();

    usable[1] = usable[2] = usable[0] = 0;
    x[0] = (struct instance){0, 0, 0, 0, 0};
    n = 1;
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), -1,
           "no processor is left");
    is_int(n, 1, "and nothing has a place");
    usable[0] = 1;
    x[0] = (struct instance){0, 3, 0, 0, 0};
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), -1,
           "a place on no processor");
    x[0] = (struct instance){1, 0, 1, 0, 0};
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), -1,
           "a place on no core");
    for (uint32_t i = 0; i < 4; i++)
        x[i] = (struct instance){i, 0, i == 2, 0, 0};
    n = 4;
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), -1,
           "nor if all others have theirs");
    n = 1;
    x[0] = (struct instance){4, 0, 0, 0, 0};
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), -1,
           "a place of no task");
    usable[0] = 1;
    n = 0;
    is_int(replan_place(g, &too_many, is_done, usable, NULL, x, &n, &makespan),
           -1, "more cores than can be numbered");
    graph_destroy(g);
}

/* Tasks that need nobody go to a core each. */
static void test_cores(void)
{
    const struct machine m = {.processors = 3, .cores = 2};
    const int64_t time[] = {S, S, S, S, S, S};
    struct graph *g;
    int apart = 1;

    if (graph_create(&g, time, 6, NULL, 0, NULL) != GRAPH_SOUND)
        bail("no graph");
    memset(is_done, 0, sizeof is_done);
    memset(usable, 1, sizeof usable);
    n = 0;
    is_int(replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan), 0,
           "six tasks for six cores");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            apart &= x[i].processor != x[k].processor || x[i].core != x[k].core;
    ok(apart && n == 6 && makespan == S, "have one each");
    graph_destroy(g);
}

static void test_memory(void)
{
    const struct machine m = {.processors = 2, .cores = 2};
    uint64_t seed = 3;
    struct graph *g = generate(20, &seed);
    int at, rc;

    memset(is_done, 0, sizeof is_done);
    memset(usable, 1, sizeof usable);
    for (at = 0;; at++) {
        n = 0;
        fault_at = at;
        rc = replan_place(g, &m, is_done, usable, NULL, x, &n, &makespan);
        fault_at = -1;
        if (rc == 0 || n != 0)
            break;
    }
    ok(rc == 0 && at > 5, "without memory it fails cleanly, %d times", at);
    graph_destroy(g);
}

int main(void)
{
    fence_on = 1;
    test_by_hand();
    test_no_place();
    test_cores();
    test_generated();
    test_memory();
    return done();
}
