/* SPDX-License-Identifier: BSD-2-Clause */
/* Units as tasks whose number is an int32_t, and back. */
#include "policy/tasks.h"
#include "tap.h"

#define HUGE_FRAME (UINT64_C(1) << 62)

static void test_sizes(void)
{
    static const struct {
        uint64_t frame, grain, units;
        int32_t tasks;
    } rows[] = {
        {0, 1, 1, 0},
        {1, 1, 1, 1},
        {400, 1, 1, 400},
        {400, 3, 3, 134},
        {399, 3, 3, 133},
        {10, 50, 50, 1},
        {INT32_MAX - 1, 1, 1, INT32_MAX - 1},
        {INT32_MAX, 1, 2, 1 << 30},
        {(uint64_t)INT32_MAX * 3 - 1, 3, 3, INT32_MAX},
        {(uint64_t)INT32_MAX * 3, 3, 6, 1 << 30},
        {HUGE_FRAME, 1, UINT64_C(1) << 32, 1 << 30},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tasks t = tasks_of(rows[i].frame, rows[i].grain);

        ok(t.units == rows[i].units && t.frame == rows[i].tasks,
           "%ju units in grains of %ju: %jd tasks of %ju units",
           (uintmax_t)rows[i].frame, (uintmax_t)rows[i].grain,
           (intmax_t)t.frame, (uintmax_t)t.units);
    }
}

/* --- a policy that says what it is to say, and notes what it hears -------- */

struct said {
    size_t node;
    int32_t tasks, left, size;
};

static void note_job(void *state, size_t node, int32_t tasks, int32_t left)
{
    struct said *s = state;

    s->node = node;
    s->tasks = tasks;
    s->left = left;
}

static int32_t say_size(const void *state, size_t node)
{
    const struct said *s = state;

    return node == s->node ? s->size : 0;
}

static void test_next(void)
{
    static const struct policy_bundles policy = {.set_job = note_job,
                                                 .size = say_size};
    static const struct {
        int32_t size;
        uint64_t left, units;
    } rows[] = {
        {5, 100, 15}, {33, 100, 99},       {34, 100, 100}, {1, 2, 2},
        {0, 100, 3},  {INT32_MIN, 100, 3}, {2, 0, 0},      {1, 3, 3},
        {2, 6, 6},    {INT32_MAX, 7, 7},
    };
    struct tasks t = tasks_of(100, 3);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct said said = {.size = rows[i].size};
        uint64_t units = tasks_next(&t, &policy, &said, 2, rows[i].left);

        ok(units == rows[i].units, "size %d, %ju left: %ju units, not %ju",
           (int)rows[i].size, (uintmax_t)rows[i].left, (uintmax_t)rows[i].units,
           (uintmax_t)units);
        ok(said.node == 2 && said.tasks == 34
               && said.left == (int32_t)((rows[i].left + 2) / 3),
           "the policy is told of the frame and of what is left");
    }
    t = tasks_of(HUGE_FRAME, UINT64_C(1) << 40);
    ok(tasks_next(&t, &policy, &(struct said){.size = INT32_MAX}, 0, HUGE_FRAME)
           == HUGE_FRAME,
       "a size past all units does not wrap");
}

int main(void)
{
    test_sizes();
    test_next();
    return done();
}
