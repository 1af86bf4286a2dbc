/* SPDX-License-Identifier: BSD-2-Clause */
/* Guided self-scheduling, bundle by bundle. */
#include "policy/guided.h"
#include "tap.h"

#define N 4

static const struct policy_bundles *policy;

static void *start(double divisor, double least)
{
    const double value[] = {divisor, least};
    const struct profile cpu = {{[ELEMENT_C] = 1}};
    struct metric m[N] = {{.JL = 1}};
    struct policy_setup setup = {N, m, &cpu, value};
    void *state = calloc(1, guided_kind.state_bytes(N, value));

    if (!state || guided_kind.init(state, &setup) < 0)
        bail("init failed");
    policy = guided_kind.bundles;
    return state;
}

/* Send all tasks of a frame; are the bundles those of the table, which ends
   with 0? */
static int sends(void *state, int32_t tasks, const int32_t want[])
{
    int32_t left = tasks;

    for (size_t i = 0; left > 0; i++) {
        int32_t size;

        policy->set_job(state, i % N, tasks, left);
        size = policy->size(state, i % N);
        if (size != want[i])
            return 0;
        left -= size < left ? size : left;
        if (left == 0)
            return want[i + 1] == 0;
    }
    return 0;
}

static void test_series(void)
{
    static const struct {
        double divisor, least;
        int32_t tasks, want[24];
    } rows[] = {
        /* As published: a bundle is what is left / nodes. */
        {1, 1, 100, {25, 19, 14, 11, 8, 6, 5, 3, 3, 2, 1, 1, 1, 1}},
        {2, 1, 40, {5, 5, 4, 4, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}},
        {2, 10, 100, {13, 11, 10, 10, 10, 10, 10, 10, 10, 10}},
        {2, 1, 1, {1}},
        {1, 7, 3, {7}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *state = start(rows[i].divisor, rows[i].least);

        ok(sends(state, rows[i].tasks, rows[i].want),
           "%d tasks, divisor %g, at least %g", (int)rows[i].tasks,
           rows[i].divisor, rows[i].least);
        ok(sends(state, rows[i].tasks, rows[i].want), "the next frame alike");
        free(state);
    }
}

static void test_bounds(void)
{
    void *state = start(1000, 1);

    policy->set_job(state, 0, INT32_MAX, INT32_MAX);
    is_int(policy->size(state, 0), INT32_MAX / 4000 + 1, "the largest frame");
    policy->set_job(state, 0, 9, 0);
    is_int(policy->size(state, 0), 1, "nothing left: the least");
    policy->set_context(state, 8000);
    is_int(policy->size(state, 3), 2, "a frame begins: all of it is left");
    free(state);
}

static void test_leave_and_join(void)
{
    void *state = start(2, 1);

    policy->set_context(state, 240);
    is_int(policy->size(state, 0), 30, "four nodes: an eighth");
    policy->leave(state, 1);
    policy->leave(state, 1);
    is_int(policy->size(state, 0), 40, "three: a sixth, however often it left");
    is_int(policy->size(state, 1), 0, "the one that left gets nothing");
    policy->join(state, 1);
    is_int(policy->size(state, 1), 30, "it is back");
    policy->join(state, 1);
    is_int(policy->size(state, 1), 30, "once");
    policy->feedback(state, 1, 30, 1e9);
    policy->set_threads(state, 1, 64, 64);
    is_int(policy->size(state, 1), 30, "no speed and no threads matter");
    for (size_t i = 0; i < N; i++)
        policy->leave(state, i);
    is_int(policy->size(state, 0), 0, "all have left");
    free(state);
}

/* As slices: equal ones, among who is there. */
static void test_slices(void)
{
    struct completion c[N] = {
        {9, 1, 0, 0, 0}, {9, 2, 0, 0, 0}, {9, 3, 0, 0, 0}, {9, 9, 0, 0, 0}};
    void *state = start(2, 1);
    double load[N];

    is_int(guided_kind.adjust(state, c, 1, load), 0, "slices are equal");
    c[2].presence = PRESENCE_GONE;
    is_int(guided_kind.adjust(state, c, 0, load), 1, "a node leaves");
    ok(load[2] == 0 && load[0] > 33 && load[0] == load[3],
       "the others have equal parts of its slice");
    policy->set_context(state, 240);
    is_int(policy->size(state, 0), 40, "bundles know that it has left");
    free(state);
}

int main(void)
{
    test_series();
    test_bounds();
    test_leave_and_join();
    test_slices();
    return done();
}
