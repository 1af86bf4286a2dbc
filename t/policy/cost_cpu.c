/* SPDX-License-Identifier: BSD-2-Clause */
/* What the CPU time of pieces tells of a start and of nodes. */
#include "policy/cost_cpu.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>

#define NODES 4
#define ROOM  (NODES * COST_PIECES)

static const double rates[NODES] = {0.8, 0.4, 0.2, 0.1};
static double scratch[ROOM];

static void add(struct cost_node *n, double seconds, double cpu)
{
    n->piece[n->n++] =
        (struct cost_piece){.run = {.seconds = seconds, .cpu = cpu},
                            .seconds = seconds,
                            .weight = 1};
}

/* Nodes that were told twice the speed they have, with so many pieces each that
 * differ by what their units cost. */
static void make(struct cost_node node[NODES],
                 size_t pieces,
                 double wait,
                 double noise,
                 struct rng *random)
{
    for (size_t i = 0; i < NODES; i++) {
        node[i] = (struct cost_node){.told = 2 * rates[i], .told_loose = 0.1};
        for (size_t k = 0; k < pieces; k++) {
            double cpu = rates[i] * (1 + 4 * random_unit(random));

            add(&node[i],
                wait + cpu / rates[i] * exp(noise * random_normal(random)),
                cpu);
        }
    }
}

static struct cost_cpu fit(struct cost_node node[NODES])
{
    return cost_cpu_fit(node, NODES, 1, scratch, ROOM);
}

static void test_told(size_t pieces, double noise, double near)
{
    struct cost_node node[NODES];
    struct cost_cpu is;
    struct rng random;
    double off = 0, rate_off = 0;
    int among = 0;

    random_init(&random, GENERATOR_LCG32, 5);
    for (int run = 0; run < 50; run++) {
        make(node, pieces, 0.6, noise, &random);
        is = fit(node);
        off += fabs(is.wait - 0.6) / 50;
        among += fabs(is.wait - 0.6) < 2.5 * is.wait_off;
        for (size_t i = 0; i < NODES; i++)
            rate_off += fabs(log(node[i].rate / rates[i])) / 50 / NODES;
    }
    ok(off < near, "%zu pieces a node: the wait, off by %.3f s", pieces, off);
    ok(rate_off < near / 2, "rates off by %.3f", rate_off);
    ok(among >= 45, "and as sure as it says, %d of 50", among);
}

static void test_nothing(void)
{
    struct cost_node node[NODES] = {0};
    struct cost_cpu is;

    for (size_t i = 0; i < NODES; i++)
        node[i] = (struct cost_node){.told = 1, .told_loose = 0.1};
    is = fit(node);
    ok(!(is.wait_off > 0), "without a piece nothing is known");
    for (size_t i = 0; i < NODES; i++) {
        add(&node[i], 3, 0);
        add(&node[i], 5, 0.01);
    }
    is = fit(node);
    ok(!(is.wait_off > 0) && !(node[0].rate > 0),
       "commands that wait tell nothing");
    ok(!cost_cpu_tells(&is, &node[0], &node[0].piece[0]),
       "nor do their pieces");
    add(&node[2], 3, 1);
    add(&node[2], 5, 2);
    is = fit(node);
    ok(is.wait_off > 0 && node[2].rate > 0 && !(node[1].rate > 0),
       "a node whose pieces compute does");
    ok(cost_cpu_tells(&is, &node[2], &node[2].piece[3])
           && !cost_cpu_tells(&is, &node[1], &node[1].piece[1]),
       "for itself");
}

/* A command that only computes has no wait, and one piece a node does not make
 * one up. */
static void test_only_cpu(void)
{
    struct cost_node node[NODES];
    struct cost_cpu is;
    struct rng random;

    random_init(&random, GENERATOR_LCG32, 7);
    make(node, 4, 0, 0.01, &random);
    ok(fit(node).wait < 0.05, "what only computes does not wait");
    for (size_t i = 0; i < NODES; i++) {
        node[i] = (struct cost_node){.told = rates[i], .told_loose = 0.1};
        add(&node[i], 2, 2 * rates[i]);
    }
    is = fit(node);
    ok(is.wait < 0.6, "of one piece a node the less is a wait");
}

static void test_off(void)
{
    struct cost_node node[NODES];
    struct cost_cpu is;
    struct rng random;

    random_init(&random, GENERATOR_LCG32, 9);
    make(node, 6, 0.6, 0.02, &random);
    node[1].piece[2].run.seconds += 20;
    node[1].piece[2].seconds += 20;
    is = fit(node);
    is_near(is.wait, 0.6, 0.2, "a piece that hangs changes no wait");
    is_near(node[1].rate, 0.4, 0.04, "nor a rate");
    ok(cost_cpu_error(&is, &node[1], &node[1].piece[2]) > 10,
       "it is far off, and slower");
    ok(fabs(cost_cpu_error(&is, &node[0], &node[0].piece[2])) < 4,
       "others are not");
    is_near(cost_cpu_seconds(&is, &node[1], &node[1].piece[2]),
            is.wait + node[1].piece[2].run.cpu / node[1].rate, 1e-9,
            "what it should have taken");
}

/* Of many nodes some tell the wait, and each its rate. */
static void test_stride(void)
{
    struct cost_node node[NODES];
    struct rng random;

    random_init(&random, GENERATOR_LCG32, 3);
    make(node, 8, 0.6, 0.01, &random);
    node[1].piece[0].run.seconds = 100;
    is_near(cost_cpu_fit(node, NODES, 2, scratch, ROOM).wait, 0.6, 0.1,
            "every other node tells");
    is_near(node[3].rate, 0.1, 0.01, "all have a rate");
    is_near(cost_cpu_fit(node, NODES, 1, scratch, 1).wait, 0.6, 0.2,
            "with little room, the same");
}

/* Whatever comes: numbers, and none that cannot be. */
static void test_anything(void)
{
    struct rng random;
    int good = 1;

    random_init(&random, GENERATOR_LCG32, 1);
    for (int run = 0; run < 2000; run++) {
        struct cost_node node[NODES];
        double shortest = (double)INFINITY;
        struct cost_cpu is;

        for (size_t i = 0; i < NODES; i++) {
            node[i] =
                (struct cost_node){.told = exp(40 * random_unit(&random) - 20),
                                   .told_loose = random_unit(&random)};
            for (size_t k = 0; k < 3; k++) {
                double seconds = exp(60 * random_unit(&random) - 30);
                double cpu = exp(60 * random_unit(&random) - 30);

                add(&node[i], seconds, cpu);
                if (cpu > 0.03 * seconds)
                    shortest = fmin(shortest, seconds);
            }
        }
        is = fit(node);
        good &= isfinite(is.wait) && isfinite(is.wait_off) && is.noise > 0
                && is.wait >= 0 && (!(is.wait > 0) || is.wait <= shortest);
        for (size_t i = 0; i < NODES; i++)
            good &= isfinite(node[i].rate) && isfinite(node[i].rate_off)
                    && node[i].rate >= 0;
    }
    ok(good, "no nonsense of nonsense");
}

int main(void)
{
    test_told(2, 0.02, 0.12);
    test_told(4, 0.02, 0.06);
    test_told(8, 0.05, 0.12);
    test_nothing();
    test_only_cpu();
    test_off();
    test_stride();
    test_anything();
    return done();
}
