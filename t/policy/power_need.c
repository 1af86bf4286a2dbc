/* SPDX-License-Identifier: BSD-2-Clause */
/* What nodes need is steady over rounds, and anew where it has changed. */
#include "policy/power_need.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define NODES 3

static struct power_node node[NODES];
static struct power_need need[NODES];

static void begin(void)
{
    memset(need, 0, sizeof need);
    for (size_t i = 0; i < NODES; i++)
        node[i] = (struct power_node){.limit = 500000, .ceiling = 1000000};
}

/* A round in which the nodes need so much, in that unit. */
static void tell(double a, double b, double c, double unit)
{
    const double needs[NODES] = {a, b, c};

    for (size_t i = 0; i < NODES; i++)
        node[i].progress = (double)node[i].limit / needs[i] / unit;
    power_need_steady(need, node, NODES);
}

/* What node i needs, of the first one. */
static double ratio(size_t i)
{
    return (double)node[i].limit / node[i].progress
           / ((double)node[0].limit / node[0].progress);
}

static void test_steady(void)
{
    begin();
    tell(1, 1.6, 2, 1);
    is_near(ratio(1), 1.6, 1e-9, "the first round is as it is");
    tell(1, 1.6, 2, 1000);
    is_near(ratio(1), 1.6, 1e-9, "a round of another unit is the same");
    for (int i = 0; i < 20; i++)
        tell(1, i % 2 ? 1.6 * 1.04 : 1.6 / 1.04, 2, 1 + i);
    is_near(ratio(1), 1.6, 0.015, "noise to both sides is left out");
    is_near(ratio(2), 2, 0.01, "and where there is none that is kept");
}

static void test_drift(void)
{
    begin();
    for (int i = 0; i < 100; i++)
        tell(1, 1 + 0.002 * i, 1, 1);
    is_near(ratio(1), 1.2, 0.02, "a slow change is followed");
}

static void test_change(void)
{
    begin();
    for (int i = 0; i < 20; i++)
        tell(1, 1.6, 2, 1);
    tell(1, 1.6, 9, 1);
    is_near(ratio(2), 2, 0.5, "one odd round counts as one of many");
    for (int i = 0; i < 10; i++)
        tell(1, 1.6, 2, 1);
    is_near(ratio(2), 2, 0.15, "and fades");
    tell(1.6, 1, 2, 1);
    tell(1.6, 1, 2, 1);
    is_near(ratio(1), 1 / 1.6, 0.05, "another program: known in two rounds");
}

static void test_moved(void)
{
    begin();
    for (int i = 0; i < 20; i++)
        tell(1, 1, 1, 1);
    node[1].limit = 560000;
    tell(1, 1.05, 1, 1);
    is_near(ratio(1), 1.05, 1e-9, "a limit that moved far: only what is now");
    for (int i = 0; i < 20; i++)
        tell(1, 1.05, 1, 1);
    node[1].limit = 565000;
    tell(1, 1.0, 1, 1);
    is_near(ratio(1), 1.04, 0.011,
            "one that moved little: what was before, too");
}

static void test_silent(void)
{
    begin();
    node[1].progress = 7;
    node[0].progress = 0;
    node[2].progress = NAN;
    power_need_steady(need, node, NODES);
    ok(node[0].progress == 0 && isnan(node[2].progress),
       "those that do not report are left as they are");
    is_near(node[1].progress, 7, 1e-9, "and one alone is as it was");
    node[1].limit = 0;
    node[2].progress = INFINITY;
    power_need_steady(need, node, NODES);
    ok(node[1].progress > 0 && isinf(node[2].progress) && need[2].weight == 0,
       "nor is one without a limit, or without an end");
    power_need_steady(need, node, 0);
    ok(1, "no nodes");
}

/* The deviation of what is steered by is much less than that of a round. */
static void test_noise(void)
{
    struct rng rng;
    double off = 0, off_round = 0;

    begin();
    random_init(&rng, GENERATOR_LCG32, 1);
    for (int i = 0; i < 1000; i++) {
        double a = exp(0.05 * random_normal(&rng));
        double b = exp(0.05 * random_normal(&rng));

        tell(a, 1.6 * b, 2, 1);
        off_round += fabs(log(b / a)) / 1000;
        off += fabs(log(ratio(1) / 1.6)) / 1000;
    }
    ok(off < off_round / 2.5, "off by %.4f, and each round by %.4f", off,
       off_round);
}

int main(void)
{
    test_steady();
    test_drift();
    test_change();
    test_moved();
    test_silent();
    test_noise();
    done();
}
