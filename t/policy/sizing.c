/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a node is sent at once, by hand; and what that comes to, simulated: six
 * frames, the first of a command that nothing is known of.
 */
#include "policy/sizing.h"
#include "policy/balance.h"
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "policy/level.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>

#define N 4

static const double speeds[N] = {1.6, 1.2, 0.8, 0.4}; /* of mean 1 */

static const struct policy_kind flat, measured = {.by_speed = 1};

/* --- by hand -------------------------------------------------------------- */

static struct sizing s;
static struct slice head[N], rest;

/* No doubt of speeds: what is expected below can be reckoned by hand. */
static const struct cost_scaling as_told = {1, 0.001, 1};

/* terms: NULL: nothing is known. */
static void begin(const struct cost_terms *terms,
                  double noise,
                  const struct policy_kind *kind,
                  uint64_t units,
                  uint64_t grain)
{
    struct cost *cost = cost_create(N, NULL);

    if (!cost || sizing_init(&s, N) < 0)
        bail("no memory");
    cost_expect_speeds(cost, speeds);
    cost_expect_scaling(cost, &as_told);
    if (terms)
        cost_expect(cost, terms, noise);
    s.cost = cost;
    s.kind = kind;
    s.frame = (struct slice){1000, 1000 + units};
    s.grain = grain;
    sizing_cut(&s, speeds, head, &rest);
}

static void end(void)
{
    cost_destroy(s.cost);
    sizing_clear(&s);
}

static uint64_t units_in(struct slice slice)
{
    return slice.end - slice.begin;
}

static int adjoin(void)
{
    uint64_t at = s.frame.begin;

    for (size_t i = 0; i < N; at = head[i++].end)
        if (head[i].begin != at || head[i].end < at)
            return 0;
    return rest.begin == at && rest.end == s.frame.end;
}

static void test_unknown(void)
{
    double least = INFINITY, most = 0;

    begin(NULL, 0, &flat, 4000, 1);
    for (size_t i = 0; i < N; i++) {
        double part = (double)units_in(head[i]) / (1000 * speeds[i]);

        least = fmin(least, part);
        most = fmax(most, part);
    }
    ok(adjoin() && least > 0.4 && most < 0.7 && most > 1.3 * least
           && (double)units_in(head[N - 1]) < 0.45 * 1000 * speeds[N - 1],
       "a new command: a part of each slice, the least of the slowest's "
       "(%.2f to %.2f)",
       least, most);
    end();
}

static void test_starts(void)
{
    const struct cost_terms none = {.each = 0.01}, waits = {5, 0, 0.01},
                            burns = {0, 2, 0.01}, longs = {0, 8, 0.001};

    begin(&none, 0.02, &flat, 4000, 1);
    ok(adjoin() && units_in(rest) > 1900 && units_in(rest) < 2100,
       "a start costs nothing: half is held back (%ju)",
       (uintmax_t)units_in(rest));
    end();
    begin(&waits, 0.02, &flat, 4000, 1);
    ok(adjoin() && units_in(rest) == 0 && units_in(head[0]) == 1600
           && units_in(head[3]) == 400,
       "one that waits for long: a piece each, by speed");
    end();
    begin(&waits, 0.5, &flat, 40000, 1);
    ok(adjoin() && units_in(rest) > 0,
       "times differ by a half: a tail is held back (%ju)",
       (uintmax_t)units_in(rest));
    end();
    begin(&burns, 0.02, &flat, 4000, 1);
    ok(adjoin() && units_in(rest) == 0 && units_in(head[3]) < 300
           && units_in(head[0]) > 1700,
       "one that works for long: slow nodes get less (%ju, %ju)",
       (uintmax_t)units_in(head[0]), (uintmax_t)units_in(head[3]));
    end();
    begin(&longs, 0.02, &flat, 4000, 1);
    ok(adjoin() && units_in(head[3]) == 0 && units_in(head[0]) > 0,
       "if that is more than all the work, they get nothing");
    end();
}

static void test_grains(void)
{
    const struct cost_terms waits = {50, 0, 1};

    begin(&waits, 0.02, &flat, 11, 1);
    ok(adjoin() && units_in(rest) == 0 && units_in(head[0]) == 5
           && units_in(head[1]) == 3 && units_in(head[2]) == 2
           && units_in(head[3]) == 1,
       "eleven units of a second: so that the last ends soonest");
    end();
    begin(&waits, 0.02, &flat, 205, 10);
    for (size_t i = 0; i < N; i++)
        ok(head[i].end == s.frame.end || units_in(head[i]) % 10 == 0,
           "whole grains");
    ok(adjoin() && units_in(rest) == 0, "and a short one at the end");
    end();
}

/* Units of the first half cost three times as much as those of the second. */
static void learn_steep(void)
{
    for (int f = 0; f < 4; f++)
        for (size_t i = 0; i < N; i++) {
            double from = 0.25 * (double)((i + (size_t)f) % N),
                   to = from + 0.25;
            double dear = fmax(fmin(to, 0.5) - from, 0);
            struct cost_part part = {1000, from, to};

            cost_add(s.cost, i, &part,
                     &(struct cost_run){
                         .seconds = 10
                                    + 4000 * (1.5 * dear + 0.5 * (0.25 - dear))
                                          / speeds[i]});
        }
    cost_fit(s.cost);
}

static void test_work(void)
{
    const struct cost_terms waits = {10, 0, 1};
    double first, last, least = INFINITY, most = 0;

    begin(&waits, 0.02, &measured, 4000, 1);
    learn_steep();
    is_near(sizing_work(&s, s.frame), 4000, 1e-6, "the mean unit's work is 1");
    first = sizing_work(&s, (struct slice){1400, 2400});
    last = sizing_work(&s, (struct slice){3600, 4600});
    is_near(first, 1500, 150, "that of the first ones is more");
    is_near(last, 500, 150, "and that of the last is less");
    sizing_cut(&s, speeds, head, &rest);
    for (size_t i = 0; i < N; i++) {
        double seconds = cost_seconds(s.cost, i, sizing_work(&s, head[i]));

        least = fmin(least, seconds);
        most = fmax(most, seconds);
    }
    ok(adjoin() && most < 1.1 * least, "so all would end together (%g to %g s)",
       least, most);
    end();
}

/* A frame of less than a grain is not that of a node that is to have nothing. */
static void test_short_grain(void)
{
    static const double loads[N] = {0, 0, 1, 1};
    const struct cost_terms waits = {1, 0, 1};

    begin(&waits, 0.02, &measured, 2, 4);
    sizing_cut(&s, loads, head, &rest);
    ok(units_in(head[0]) == 0 && units_in(head[1]) == 0,
       "who has no load has nothing of a short grain, either");
    ok(units_in(head[2]) + units_in(head[3]) + units_in(rest) == 2,
       "it is another's, or for all");
    end();
}

/* What the policy says counts, unless it only wants all to end together. */
static void test_loads(void)
{
    static const double loads[N] = {1, 1, 1, 1};
    const struct cost_terms waits = {500, 0, 1};

    begin(&waits, 0.001, &flat, 400, 1);
    sizing_cut(&s, loads, head, &rest);
    ok(units_in(head[0]) == 100 && units_in(head[3]) == 100,
       "loads that somebody has chosen are kept");
    end();
    begin(&waits, 0.001, &measured, 400, 1);
    sizing_cut(&s, loads, head, &rest);
    ok(units_in(head[0]) == 160 && units_in(head[3]) == 40,
       "those that were measured give way to what pieces cost");
    end();
}

static void test_part(void)
{
    const struct cost_terms waits = {10, 0, 1};

    begin(&waits, 0.001, &flat, 400, 1);
    for (size_t i = 0; i < N; i++)
        s.free[i] = i == 0 ? 0 : 1000;
    sizing_look(&s, 100);
    ok(sizing_part(&s, 0, 0, (struct slice){1300, 1400}) == 100,
       "all others are at work for long: one takes all");
    ok(sizing_part(&s, 3, 1000, (struct slice){1300, 1400}) == 0,
       "and who is free then is done");
    for (size_t i = 0; i < N; i++)
        s.free[i] = 0;
    sizing_look(&s, 400);
    ok(sizing_part(&s, 3, 0, (struct slice){1000, 1400}) == 40,
       "all are free: its part by speed");
    is_near(sizing_end(&s, 0, 16, 5, 6), 25, 1e-9, "when that will be done");
    is_near(sizing_end(&s, 0, 16, 5, 28), 31, 1e-9,
            "what is late is as late "
            "again");
    end();
}

/* Frames side by side are cut as one. */
static void test_beside(void)
{
    const struct cost_terms waits = {10, 0, 1};
    const struct slice all = {1000, 1400}, few = {1000, 1100};

    begin(&waits, 0.001, &flat, 400, 1);
    s.beside = 0;
    sizing_look(&s, 400);
    ok(sizing_part(&s, 3, 0, all) == 40, "nothing is beside it: as alone");
    s.beside = 800;
    sizing_look(&s, 400);
    ok(sizing_part(&s, 3, 0, all) == 120, "of three frames, in one piece");
    ok(sizing_part(&s, 0, 0, all) == 400,
       "who has more than a frame to do takes all of it");
    ok(sizing_part(&s, 3, 0, few) == 100, "or what is left of it");
    ok(sizing_part(&s, 3, 0, (struct slice){1000, 1121}) == 121,
       "less than half a start is not left to another one");
    ok(sizing_part(&s, 3, 0, (struct slice){1000, 1123}) == 120, "more is");
    end();
}

/* Units of the first half cost now this, now three times that. */
static void learn_rough(void)
{
    for (int f = 0; f < 4; f++)
        for (size_t i = 0; i < 8; i++) {
            struct cost_part part = {250, (double)i / 16, (double)(i + 1) / 16};
            double work = (i + i / N) % 2 ? 375 : 125;

            cost_add(s.cost, i % N, &part,
                     &(struct cost_run){.seconds = 10 + work / speeds[i % N]});
        }
    cost_fit(s.cost);
}

/* The work of the part that the slowest takes from a unit on, of frames beside each
 * other. */
static double part_from(uint64_t from)
{
    uint64_t units;

    sizing_look(&s, 2000);
    units = sizing_part(&s, 3, 0, (struct slice){from, from + 800});
    return sizing_work(&s, (struct slice){from, from + units});
}

/* Of work that is known less a node takes less at once. */
static void test_unseen(void)
{
    const struct cost_terms waits = {10, 0, 1};
    double seen, unseen;

    begin(&waits, 0.02, &measured, 4000, 1);
    learn_rough();
    s.beside = 8000;
    s.is_followed = 1;
    seen = part_from(1000);
    unseen = part_from(4200);
    ok(unseen < 0.85 * seen && unseen > seen / 4,
       "by frames that others follow (%g, %g)", seen, unseen);
    s.beside = 0;
    s.is_followed = 0;
    seen = part_from(1000);
    unseen = part_from(4200);
    ok(unseen < 0.85 * seen && unseen > seen / 4, "and in the last (%g, %g)",
       seen, unseen);
    end();
}

/* The chance to be the last is to be as a node's speed: the slow end early, by normal
 * variates that are drawn. */
static void test_hedge(void)
{
    const double loads[N] = {1, 1, 1, 1};
    double last[N] = {0}, end_at[N];
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 5);
    begin(&(struct cost_terms){.each = 1}, 0.1, &flat, 400, 1);
    sizing_take_speeds(&s, loads);
    for (int k = 0; k < 20000; k++) {
        size_t worst = 0;

        for (size_t i = 0; i < N; i++) {
            end_at[i] = s.speed[i] / speeds[i] * (1 + 0.1 * random_normal(&r));
            if (end_at[i] > end_at[worst])
                worst = i;
        }
        last[worst] += 1 / 20000.0;
    }
    for (size_t i = 0; i < N; i++)
        is_near(last[i], speeds[i] / 4, 0.05,
                "as often the last as it is fast");
    s.is_followed = 1;
    s.beside = 0;
    sizing_take_speeds(&s, loads);
    for (size_t i = 0; i < N; i++)
        is_near(s.speed[i], speeds[i], 1e-12,
                "where frames follow nobody waits");
    end();
}

/* The first answers say little of what lies elsewhere in the frame. */
static void test_young(void)
{
    const struct cost_terms waits = {5, 0, 1}, longs = {200, 0, 1};
    uint64_t part;

    begin(&waits, 0.001, &flat, 400, 1);
    s.is_young = 1;
    sizing_look(&s, 400);
    part = sizing_part(&s, 0, 0, (struct slice){1000, 1400});
    ok(part >= 106 && part <= 107,
       "few are back: a third of a part is held back (%ju)", (uintmax_t)part);
    s.is_young = 0;
    part = sizing_part(&s, 0, 0, (struct slice){1000, 1400});
    ok(part == 160, "all are: nothing (%ju)", (uintmax_t)part);
    end();
    begin(&longs, 0.001, &flat, 400, 1);
    s.is_young = 1;
    sizing_look(&s, 400);
    part = sizing_part(&s, 0, 0, (struct slice){1000, 1400});
    ok(part == 160, "nor where a start is as long as the rest (%ju)",
       (uintmax_t)part);
    end();
}

/* --- simulated ------------------------------------------------------------ */

#define FRAMES 6

struct cell {
    double wait, burn, unit, noise;
    int halves;
};

/* Six frames of ten seconds, to the ideal with a start a node. */
static double ratio(const struct cell *c, uint64_t pieces, int is_told)
{
    static double value[POLICY_PARAMS];
    const double speed[N] = {1 / c->unit, 0.5 / c->unit, 0.25 / c->unit,
                             0.125 / c->unit},
                 free_at[N] = {0};
    const struct balance_change half = {3, 0, 0, speed[0] / 2};
    struct balance_setup setup = {
        .n = N,
        .speed = speed,
        .prior = is_told ? speed : NULL,
        .noise = c->noise,
        .wait = c->wait,
        .burn = c->burn,
        .units = (uint64_t)(18.75 / c->unit),
        .grain = 1,
        .pieces = pieces,
        .policy = kinds_at(0),
        .value = value,
        .threshold = {THRESHOLD_PERCENT, 5},
        .change = &half,
        .n_changes = c->halves ? 1 : 0,
        .seed = 5,
    };
    const struct cost_terms terms = {c->wait, c->burn / c->unit, 1};
    struct balance *b;
    double seconds = 0;

    policy_defaults(setup.policy, value);
    b = balance_create(&setup);
    for (int i = 0; i < FRAMES; i++) {
        struct balance_frame f;

        if (!b || balance_next(b, &f) < 0)
            bail("no memory");
        seconds += f.last;
    }
    balance_destroy(b);
    return seconds / FRAMES
           / level_find(free_at, speed, N, &terms, (double)setup.units);
}

static void test_cells(void)
{
    static const struct cell cells[] = {
        {0, 0, 0.001, 0.02, 0},   {0, 0, 0.01, 0.1, 0},
        {0.01, 0, 0.01, 0.02, 0}, {0.1, 0, 0.01, 0.02, 0},
        {0.6, 0, 0.01, 0.02, 0},  {0, 0.1, 0.01, 0.02, 0},
        {0.6, 0.1, 0.01, 0.1, 0}, {0, 1, 0.01, 0.02, 0},
        {1, 0, 0.01, 0.02, 0},    {0, 0, 0.01, 0.02, 1},
        {0.01, 0, 0.01, 0.02, 1}, {0.1, 0, 0.01, 0.02, 1},
    };

    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const struct cell *c = &cells[i];
        double by_cost = ratio(c, DISPATCH_BY_COST, 1);
        double one = ratio(c, 1, 1), many = ratio(c, 16, 1);

        ok(by_cost < 1.12 * fmin(one, many) && (c->halves || by_cost < 1.15),
           "wait %g, burn %g, units of %g s, noise %g%s: %.3f; in one piece "
           "%.3f, in 16 %.3f",
           c->wait, c->burn, c->unit, c->noise,
           c->halves ? ", one becomes slow" : "", by_cost, one, many);
        by_cost = ratio(c, DISPATCH_BY_COST, 0);
        ok(by_cost < ratio(c, 1, 0) && by_cost < 1.3,
           "the same without a probe: %.3f", by_cost);
    }
}

/* Units of the middle cost most, as the rows of a picture do: a frame, to the
 * ideal, once that was seen. */
static double shaped_ratio(const struct policy_kind *kind)
{
    static const double shape[] = {0.2, 0.4, 1.2, 2, 2, 1.2, 0.6, 0.4};
    static double value[POLICY_PARAMS];
    const double speed[N] = {80, 40, 20, 10}, free_at[N] = {0};
    const struct cost_terms terms = {0.6, 8, 1};
    struct balance_setup setup = {
        .n = N,
        .speed = speed,
        .prior = speed,
        .noise = 0.02,
        .wait = terms.wait,
        .burn = terms.burn / speed[0],
        .units = 660,
        .grain = 1,
        .pieces = DISPATCH_BY_COST,
        .policy = kind,
        .value = value,
        .threshold = {THRESHOLD_PERCENT, 5},
        .shape = shape,
        .shapes = sizeof shape / sizeof shape[0],
        .shape_frames = 1,
        .seed = 5,
    };
    struct balance *b;
    double seconds = 0;

    policy_defaults(kind, value);
    b = balance_create(&setup);
    for (int i = 0; i < FRAMES; i++) {
        struct balance_frame f;

        if (!b || balance_next(b, &f) < 0)
            bail("no memory");
        seconds += i < FRAMES / 2 ? 0 : f.last;
    }
    balance_destroy(b);
    return seconds / (FRAMES - FRAMES / 2)
           / level_find(free_at, speed, N, &terms, (double)setup.units);
}

static void test_shape(void)
{
    double by_cost = shaped_ratio(kinds_at(0));

    ok(by_cost >= 0.99 && by_cost < 1.1,
       "where units cost unlike, that is learned: %.3f", by_cost);
}

int main(void)
{
    test_unknown();
    test_starts();
    test_grains();
    test_work();
    test_short_grain();
    test_loads();
    test_part();
    test_beside();
    test_unseen();
    test_hedge();
    test_young();
    test_cells();
    test_shape();
    return done();
}
