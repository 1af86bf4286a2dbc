/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames at work side by side, simulated: what starts cost, and that all is done. */
#include "policy/window_simulation.h"
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "tap.h"

#define N 4

static const double speeds[N] = {80, 40, 20, 10};
static double defaults[POLICY_PARAMS];

/* A frame takes five seconds without a start. */
static struct balance_setup setup_of(double wait, double noise, uint64_t seed)
{
    const struct policy_kind *kind = kinds_find("even");

    policy_defaults(kind, defaults);
    return (struct balance_setup){
        .n = N,
        .speed = speeds,
        .prior = speeds,
        .noise = noise,
        .wait = wait,
        .delay = 0.005,
        .units = 750,
        .grain = 1,
        .pieces = DISPATCH_BY_COST,
        .policy = kind,
        .value = defaults,
        .threshold = {THRESHOLD_PERCENT, 5},
        .seed = seed,
    };
}

static struct window_outcome simulated(const struct balance_setup *s,
                                       uint64_t frames,
                                       uint64_t ahead)
{
    struct window_outcome out;

    if (window_simulate(s, frames, ahead, &out) < 0)
        bail("no memory, or a frame that never ends");
    return out;
}

static void test_one_frame(void)
{
    struct balance_setup s = setup_of(0, 0, 1);
    struct balance *b = balance_create(&s);
    struct balance_frame f;

    if (!b || balance_next(b, &f) < 0)
        bail("no memory");
    is_near(simulated(&s, 1, 0).seconds, f.last, 0.02 * f.last,
            "one frame takes what it takes alone");
    balance_destroy(b);
    is_near(window_ideal(&s, 1), 5, 1e-9, "ideal is all work by all speeds");
    s.wait = 2;
    is_near(window_ideal(&s, 6), 32, 1e-9, "of all frames, with one start");
}

static void test_starts(void)
{
    double alone = 0, joined = 0;
    uint64_t starts = 0, fewer = 0, n = 20;

    for (uint64_t seed = 1; seed <= n; seed++) {
        struct balance_setup s = setup_of(0.5, 0.03, seed);
        struct window_outcome one = simulated(&s, 6, 0),
                              all = simulated(&s, 6, 2);

        alone += one.seconds / window_ideal(&s, 6);
        joined += all.seconds / window_ideal(&s, 6);
        starts += one.pieces;
        fewer += all.pieces;
    }
    printf("# makespan / ideal %.3f, two ahead %.3f; starts %.1f, %.1f\n",
           alone / (double)n, joined / (double)n, (double)starts / (double)n,
           (double)fewer / (double)n);
    ok(joined < 0.96 * alone, "what begins ahead is done sooner");
    ok(joined / (double)n < 1.12, "near to what all frames as one would take");
    ok(fewer * 10 < starts * 7, "with a third of the starts less, or more");
}

static void test_edges(void)
{
    struct balance_setup s = setup_of(0.5, 0.1, 1);
    struct window_outcome out;

    ok(simulated(&s, 20, 5).pieces >= 20, "more frames than places");
    ok(simulated(&s, 2, 50).pieces >= 2, "more places than frames");
    s.units = 1;
    is_int((intmax_t)simulated(&s, 3, 2).pieces, 3, "frames of a unit");
    s.units = 750;
    s.wait = 0;
    s.delay = 0;
    ok(simulated(&s, 6, 2).seconds < 1.05 * window_ideal(&s, 6),
       "where nothing costs anything they come near to ideal");
    s.noise = -1;
    is_int(window_simulate(&s, 1, 0, &out), -1, "a setup that cannot be");
}

int main(void)
{
    test_one_frame();
    test_starts();
    test_edges();
    return done();
}
