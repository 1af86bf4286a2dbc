/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts that wait longer on some nodes: they are found, where they are, and only there. */
#include "policy/cost.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define NODES 8

static const double speeds[NODES] = {1.6, 1.4, 1.2, 1.1, 0.9, 0.8, 0.6, 0.4};

/* What is really so. */
struct world {
    double wait, each, noise;
    double lag[NODES];
    int by_cpu; /* pieces tell their CPU time */
    struct rng random;
};

static void piece(struct cost *c, struct world *w, size_t node, double units)
{
    double work = w->each * units * exp(w->noise * random_normal(&w->random))
                  / speeds[node];

    cost_add(c, node, &(struct cost_part){.units = units},
             &(struct cost_run){.seconds = w->wait + w->lag[node] + work,
                                .cpu = w->by_cpu ? work / 2 : 0});
}

static void frames(struct cost *c, struct world *w, int n)
{
    for (int f = 0; f < n; f++)
        for (size_t i = 0; i < NODES; i++) {
            piece(c, w, i, 150 * speeds[i]);
            cost_fit(c);
            piece(c, w, i, 60 * speeds[i]);
            cost_fit(c);
        }
}

static struct cost *learned(struct world *w, const size_t group[], int n)
{
    struct cost *c = cost_create(NODES, group);

    random_init(&w->random, GENERATOR_LCG32, 7);
    cost_expect_speeds(c, speeds);
    frames(c, w, n);
    return c;
}

static void test_one(double lag, double noise, int by_cpu)
{
    struct world w = {
        .wait = 0.1, .each = 0.02, .noise = noise, .by_cpu = by_cpu};
    struct cost *c;
    double near = 0.05 + 3 * noise;
    int others = 0;

    w.lag[2] = lag;
    c = learned(&w, NULL, 4);
    is_near(cost_lag(c, 2), lag, near * lag + 0.03, "the lag of one");
    for (size_t i = 0; i < NODES; i++)
        others += i != 2 && fabs(cost_lag(c, i)) > 0;
    ok(others == 0, "and of no other");
    is_near(cost_terms(c).wait, 0.1, 0.06, "the wait is that of the others");
    is_near(cost_seconds(c, 2, 10), 0.1 + lag + 0.2 / speeds[2],
            near * (0.1 + lag), "what ten units take there");
    is_near(cost_start_most(c, 2) - cost_seconds(c, 2, 0), 0, 0.2 + 0.2 * lag,
            "what a start may take there has it");
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(c, i), speeds[i], near * speeds[i],
                "no speed suffers from it");
    cost_destroy(c);
}

/* More than half are slow to start: then it is the others that are quick. */
static void test_most(void)
{
    struct world w = {.wait = 0.1, .each = 0.02, .noise = 0.02};
    struct cost *c;

    for (size_t i = 0; i < 5; i++)
        w.lag[i] = 2;
    c = learned(&w, NULL, 4);
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_seconds(c, i, 0), w.wait + w.lag[i],
                0.1 * (w.wait + w.lag[i]) + 0.05, "a start there");
    cost_destroy(c);
}

/* What is mere noise makes none. */
static void test_none(void)
{
    size_t found = 0, looked = 0;

    for (uint32_t seed = 1; seed <= 40; seed++) {
        struct world w = {.wait = 0.3, .each = 0.02, .noise = 0.1};
        struct cost *c = cost_create(NODES, NULL);

        random_init(&w.random, GENERATOR_LCG32, seed);
        cost_expect_speeds(c, speeds);
        for (int f = 0; f < 6; f++) {
            frames(c, &w, 1);
            for (size_t i = 0; i < NODES; i++)
                found += fabs(cost_lag(c, i)) > 0;
            looked += NODES;
        }
        cost_destroy(c);
    }
    ok(found * 200 <= looked, "of %zu looks at nodes without a lag %zu see one",
       looked, found);
}

/* A node falls to half of its speed: that is no lag. */
static void test_slower(void)
{
    struct world w = {.wait = 0.1, .each = 0.02, .noise = 0.02};
    struct cost *c = learned(&w, NULL, 3);

    for (int k = 0; k < 6; k++) {
        double units = (k % 2 ? 60 : 150) * speeds[1];

        cost_add(
            c, 1, &(struct cost_part){.units = units},
            &(struct cost_run){.seconds = 0.1 + 2 * 0.02 * units / speeds[1]});
        cost_fit(c);
    }
    is_near(cost_lag(c, 1), 0, 0.1, "a node that is slower now has no lag");
    is_near(cost_speed(c, 1) / cost_speed(c, 0), speeds[1] / speeds[0] / 2,
            0.05, "it is slower");
    cost_destroy(c);
}

/* The slots of a node, each with a piece or two, tell of it together. */
static void test_group(void)
{
    static const size_t group[NODES] = {0, 0, 0, 0, 4, 4, 4, 4};
    struct world w = {.wait = 0.1, .each = 0.02, .noise = 0.02};
    struct cost *c;

    for (size_t i = 4; i < NODES; i++)
        w.lag[i] = 1;
    c = learned(&w, group, 2);
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_seconds(c, i, 0), w.wait + w.lag[i], 0.15,
                "a start on a slot");
    cost_destroy(c);
}

/* It goes, as a cache is warm now. */
static void test_gone(void)
{
    struct world w = {.wait = 0.1, .each = 0.02, .noise = 0.02};
    struct cost *c;

    w.lag[3] = 2;
    c = learned(&w, NULL, 3);
    is_near(cost_lag(c, 3), 2, 0.2, "it is there");
    w.lag[3] = 0;
    frames(c, &w, 6);
    is_near(cost_seconds(c, 3, 0), 0.1, 0.1, "it is gone");
    cost_destroy(c);
}

static void test_before(void)
{
    const struct cost_terms terms = {.wait = 0.5, .each = 0.02};
    double lag[NODES] = {0, 2, -1, (double)NAN};
    struct cost *c = cost_create(NODES, NULL);
    struct world w = {.wait = 0.5, .each = 0.02};

    cost_expect_speeds(c, speeds);
    cost_expect(c, &terms, 0.05);
    cost_expect_lags(c, lag);
    is_near(cost_seconds(c, 1, 0), 2.5, 1e-9, "runs before know it");
    is_near(cost_seconds(c, 2, 0), 0, 0, "no start waits less than nothing");
    is_near(cost_seconds(c, 3, 0), 0.5, 1e-9, "what is no number is none");
    w.lag[1] = 2;
    piece(c, &w, 1, 100);
    cost_fit(c);
    is_near(cost_lag(c, 1), 2, 1e-9, "one piece does not change it");
    is_near(cost_speed(c, 1) / cost_speed(c, 0), speeds[1] / speeds[0], 0.02,
            "nor its speed");
    is_near(cost_alone(c, 1, &(struct cost_run){.seconds = 3}), 3, 1e-9,
            "what a piece took alone has it");
    cost_destroy(c);
}

/* Runs before knew one that is gone, or is still there: the first piece may tell. */
static void test_told(double told, double real, double expected)
{
    const struct cost_terms terms = {.wait = 0.1, .each = 0.02};
    struct cost *c = cost_create(NODES, NULL);
    struct world w = {.wait = 0.1, .each = 0.02};
    double lag[NODES] = {0, 0, told};

    w.lag[2] = real;
    cost_expect_speeds(c, speeds);
    cost_expect(c, &terms, 0.05);
    cost_expect_lags(c, lag);
    for (size_t i = 0; i < NODES; i++)
        piece(c, &w, i, 100 * speeds[i]);
    cost_fit(c);
    is_near(cost_lag(c, 2), expected, 1e-9,
            expected > 0 ? "a lag that was told stays"
                         : "one that is gone goes");
    is_near(cost_speed(c, 2) / cost_speed(c, 0), speeds[2] / speeds[0], 0.25,
            "the node is not taken for another one");
    cost_destroy(c);
}

int main(void)
{
    test_one(2, 0, 0);
    test_one(2, 0.05, 0);
    test_one(0.5, 0.02, 0);
    test_one(2, 0.05, 1);
    test_one(10, 0.05, 1);
    test_most();
    test_none();
    test_slower();
    test_group();
    test_gone();
    test_before();
    test_told(2, 0, 0);
    test_told(5, 0, 0);
    test_told(2, 2, 2);
    test_told(2, 2.3, 2);
    return done();
}
