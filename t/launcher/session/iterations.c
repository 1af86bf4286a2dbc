/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterations of programs are counted by when their regions are seen to end. */
#include "launcher/session/iterations.h"
#include "tap.h"

#define MS      INT64_C(1000000)
#define LOOK_MS 97 /* apart from all periods */

/* A program that runs on for so long, each of its iterations being a region of
 * long_ms and some that take a millisecond each; looked at every look_ms, and told
 * only what is new. */
static struct iterations look(int long_ms, int shorts, int look_ms, int ms)
{
    struct iterations it = {.n = 0};
    int period = long_ms + shorts, told = -1;

    for (int now = look_ms; now <= ms; now += look_ms) {
        int of_this = now % period - long_ms;
        int regions =
            now / period * (1 + shorts) + (of_this >= 0 ? 1 + of_this : 0);

        if (regions != told)
            iterations_add(&it, (uint64_t)regions, now * MS, look_ms * MS);
        told = regions;
    }
    return it;
}

static void test_counts(
    const char *what, int long_ms, int shorts, int look_ms, int per)
{
    struct iterations it = look(long_ms, shorts, look_ms, 60000);
    double counted = (double)it.n / per, were = 60000.0 / (long_ms + shorts);

    ok(counted > were * 0.9 - 2 && counted < were * 1.02,
       "%s: %.1f iterations were counted, %.1f were", what, counted, were);
}

static void test_times(void)
{
    struct iterations it = look(1990, 10, LOOK_MS, 20000), later;

    later = look(1990, 10, LOOK_MS, 40000);
    is_near((double)(later.end_ns - it.end_ns) / 1e9 / (double)(later.n - it.n),
            2, 0.01, "and each took the time of a whole one");
}

static void test_another(void)
{
    struct iterations it = look(500, 0, LOOK_MS, 5000);

    iterations_add(&it, 3, 6000 * MS, LOOK_MS * MS);
    ok(it.n == 0 && it.end_ns == 0, "fewer regions: of another program nothing "
                                    "is known");
    iterations_add(&it, 4, 6500 * MS, LOOK_MS * MS);
    ok(it.n == 0 && it.end_ns == 6500 * MS, "until one of its own ends");
    iterations_add(&it, 4, 6700 * MS, LOOK_MS * MS);
    ok(it.n == 0, "a look that sees none end counts none");
    iterations_add(&it, 5, 7000 * MS, LOOK_MS * MS);
    ok(it.n == 1 && it.end_ns == 7000 * MS, "then it is counted");
}

int main(void)
{
    test_counts("regions of half a second", 500, 0, LOOK_MS, 1);
    test_counts("regions of 10 ms, ten of them between two looks", 10, 0,
                LOOK_MS, 1);
    test_counts("2 s, and then ten that take nothing", 1990, 10, LOOK_MS, 1);
    test_counts("300 ms, and then three that take nothing", 297, 3, LOOK_MS, 1);
    test_counts("50 ms, and then four that take nothing", 46, 4, LOOK_MS, 5);
    test_counts("400 ms, and then two that take nothing, of which one look may "
                "see any number",
                400, 2, 10, 1);
    test_times();
    test_another();
    return done();
}
