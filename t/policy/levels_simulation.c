/* SPDX-License-Identifier: BSD-2-Clause */
/* Racks, nodes, sockets and cores, simulated. */
#include "policy/levels_simulation.h"
#include "tap.h"

static const double work[] = {1, 1, 1, 1.6, 1, 1};

static struct levels_simulation_setup six_nodes(void)
{
    return (struct levels_simulation_setup){
        .nodes = 6,
        .sockets = 2,
        .cores = 4,
        .rack = 4,
        .work = work,
        .uneven = 0.05,
        .limit = 400000,
        .floor = 80000,
        .ceiling = 1000000,
        .exponent = 1,
        .rule = {POWER_PAIR, 0, 0, POWER_GAIN},
        .seed = 1,
        .steered = 15};
}

/* The ideal of the last of some regions; -1, -2: as init() says. */
static double course(const struct levels_simulation_setup *s,
                     size_t regions,
                     int *kept)
{
    void *state = malloc(levels_simulation_bytes(s));
    struct levels_region r = {0};
    int rc = state ? levels_simulation_init(state, s) : -1;

    *kept = 1;
    for (size_t i = 0; rc == 0 && i < regions; i++) {
        levels_simulation_region(state, &r);
        *kept &= r.power == 48 * s->limit
                 && levels_simulation_rack(state, 0)
                            + levels_simulation_rack(state, 1)
                        == r.power;
        levels_simulation_step(state);
    }
    free(state);
    return rc == 0 ? r.ideal : rc;
}

static void test_levels(void)
{
    struct levels_simulation_setup s = six_nodes();
    int kept;
    double all = course(&s, 12, &kept), first;

    ok(kept, "all that there is, is in the racks, at every region");
    ok(all < 1.02, "all levels together come to %.3f of the ideal", all);
    s.steered = 0;
    first = course(&s, 12, &kept);
    ok(first > 1.3, "none at all stays at %.3f", first);
    for (unsigned k = 0; k < SIMULATED_LEVELS; k++) {
        double alone;

        s.steered = 1U << k;
        alone = course(&s, 12, &kept);
        ok(kept && alone > all + 0.01 && alone < first,
           "%s alone comes to %.3f",
           simulated_level_name((enum simulated_level)k), alone);
    }
}

static void test_seed(void)
{
    struct levels_simulation_setup s = six_nodes();
    int kept;
    double one, two;

    s.noise = 0.02;
    one = course(&s, 3, &kept);
    two = course(&s, 3, &kept);
    ok(!(one < two) && !(one > two), "the same seed gives the same");
    s.seed = 2;
    two = course(&s, 3, &kept);
    ok(one < two || one > two, "another one something else");
}

static void test_budget(void)
{
    struct levels_simulation_setup s = six_nodes();
    void *state = malloc(levels_simulation_bytes(&s));
    struct levels_region r;
    int kept = 1, used = 0;

    s.budget = 32 * 420000; /* the rack of four has 32 cores */
    if (!state || levels_simulation_init(state, &s) < 0)
        bail("no simulation");
    for (int i = 0; i < 12; i++) {
        levels_simulation_region(state, &r);
        levels_simulation_step(state);
        kept &= levels_simulation_rack(state, 0) <= s.budget;
        used |= levels_simulation_rack(state, 0) > s.budget - 1000;
    }
    ok(kept && used, "the rack with the slow node gets its budget, no more");
    s.budget = 32 * 300000;
    ok(levels_simulation_init(state, &s) == 0
           && levels_simulation_rack(state, 0) == s.budget,
       "a budget below the limits holds from the start");
    s.budget = 32 * 79999;
    ok(levels_simulation_init(state, &s) == -2,
       "one below the floors is refused");
    free(state);
}

static void test_bad(void)
{
    struct levels_simulation_setup s = six_nodes();
    int kept;

    s.limit = 1000001;
    ok(course(&s, 1, &kept) < 0, "a limit above the ceiling is refused");
    s = six_nodes();
    s.rule.gain = 0;
    ok(course(&s, 1, &kept) < 0, "no gain is");
    s = six_nodes();
    s.uneven = (double)NAN;
    ok(course(&s, 1, &kept) < 0, "work that is no number is");
    s = six_nodes();
    s.cores = SIZE_MAX / 4;
    ok(levels_simulation_bytes(&s) == 0, "too many cores are");
    s.cores = 0;
    ok(levels_simulation_bytes(&s) == 0, "none are");
    for (unsigned k = 0; k < SIMULATED_LEVELS; k++)
        ok(simulated_level_find(simulated_level_name((enum simulated_level)k))
               == k,
           "%s is found by its name",
           simulated_level_name((enum simulated_level)k));
    ok(simulated_level_find("cor") == SIMULATED_LEVELS, "no other name is");
}

int main(void)
{
    test_levels();
    test_seed();
    test_budget();
    test_bad();
    return done();
}
