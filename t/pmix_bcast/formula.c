/* SPDX-License-Identifier: BSD-2-Clause */
/* The formulas of other ways, beside what they give by hand. */
#include "pmix_bcast/formula.h"
#include "tap.h"

#define MB   1e6
#define RATE 1e8 /* bytes per second: 1 MB takes 10 ms */

static void test_limit(void)
{
    is_near(formula_limit(50 * MB, RATE), 0.5, 1e-12,
            "nobody is faster than a link");
}

static void test_strict(void)
{
    /* 10 branches of 10: 1 MB a chunk, (10 + 10) of them, then 9 more. */
    is_near(formula_strict(10 * MB, RATE, 110, 10), 0.29, 1e-12,
            "one tree of two layers");
    is_near(formula_strict(10 * MB, RATE, 111, 10), 0.30, 1e-12,
            "one node more is one child more");
}

static void test_sbcast(void)
{
    /* 7 nodes, 2 at a time: 2, then 2 below each (of 3), then 1. */
    is_near(
        formula_orders(1 * MB, RATE, 0.001, 0.0001, 7, 2), 0.0639, 1e-12,
        "an order to 7 by 2: three layers, each (2 (0.1 + 10) + 1 + 0.1) ms");
    is_near(formula_orders(1 * MB, RATE, 0.001, 0.0001, 6, 2), 0.0426, 1e-12,
            "to 6: two");
    is_near(formula_sbcast(1 * MB, RATE, 0, 7, 2, 1 * MB), 0.05, 1e-12,
            "three layers, a block after the other");
    is_near(formula_sbcast(1 * MB, RATE, 0.001, 7, 2, 1 * MB), 0.054, 1e-12,
            "each a latency later, and so is the answer");
    is_near(formula_sbcast(2.5 * MB, RATE, 0.001, 7, 2, 1 * MB), 0.137, 1e-12,
            "each block waits for the one before it, the last is shorter");
    is_near(formula_sbcast(2 * MB, RATE, 0.001, 2, 4, 1 * MB), 0.044, 1e-12,
            "fewer nodes than at a time: one layer, and no rest");
}

static void test_scatter(void)
{
    /* 4 ranks: 2 steps of the scatter, 3 of the ring, 3/4 of the data each. */
    is_near(formula_scatter_allgather(4 * MB, RATE, 0.001, 3), 0.065, 1e-12,
            "scatter and allgather of a power of two");
    is_near(formula_scatter_allgather(5 * MB, RATE, 0.001, 4), 0.087, 1e-12,
            "of one rank more: a step more each");
    is_near(formula_scatter_allgather(5 * MB, RATE, 0, 4), 0.08, 1e-12,
            "and without latency");
}

int main(void)
{
    test_limit();
    test_strict();
    test_sbcast();
    test_scatter();
    return done();
}
