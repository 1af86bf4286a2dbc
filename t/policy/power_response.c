/* SPDX-License-Identifier: BSD-2-Clause */
/* How nodes follow their limits is seen in a few rounds, noise or not. */
#include "policy/power_response.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>

#define NODES 4

struct program {
    double exponent, noise;
    struct rng rng;
    struct power_response response;
    struct power_seen seen[NODES];
    struct power_node node[NODES];
};

static const double work[NODES] = {1, 1, 1, 1.6};

static struct program program(double exponent, double noise)
{
    struct program p = {.exponent = exponent, .noise = noise};

    random_init(&p.rng, GENERATOR_LCG32, 1);
    for (size_t i = 0; i < NODES; i++)
        p.node[i] = (struct power_node){
            .limit = 500000, .floor = 125000, .ceiling = 1000000};
    return p;
}

/* All are so many times as fast, in this round's unit. */
static void next_round(struct program *p, double unit)
{
    for (size_t i = 0; i < NODES; i++)
        p->node[i].progress = unit * pow((double)p->node[i].limit, p->exponent)
                              / work[i]
                              * exp(p->noise * random_normal(&p->rng));
    power_response_note(&p->response, p->seen, p->node, NODES);
}

/* From three to the slow one. */
static void move(struct program *p, uint64_t each)
{
    for (size_t i = 0; i < NODES - 1; i++)
        p->node[i].limit -= each;
    p->node[NODES - 1].limit += 3 * each;
}

static double gain(const struct program *p)
{
    return power_response_gain(&p->response, p->seen, p->node, NODES);
}

static void test_exponent(double exponent, double noise)
{
    struct program p = program(exponent, noise);

    next_round(&p, 1);
    ok(power_response_least(&p.response) <= 0
           && isinf(power_response_most(&p.response)),
       "after one round nothing is known of the exponent");
    for (int i = 0; i < 3; i++) {
        move(&p, 20000);
        next_round(&p, i + 1.5);
    }
    ok(power_response_least(&p.response) < exponent
           && power_response_most(&p.response) > exponent,
       "exponent %g, noise %g: %.3f to %.3f after four rounds", exponent, noise,
       power_response_least(&p.response), power_response_most(&p.response));
    is_near(power_response_exponent(&p.response), exponent, 0.2,
            "by and large it is that");
}

static void test_gain(void)
{
    struct program p = program(1, 0.01);

    next_round(&p, 1);
    ok(!(gain(&p) > 0), "no gain before a limit has moved");
    move(&p, 50000);
    next_round(&p, 1);
    ok(fabs(gain(&p) - (1 - 500000.0 / 650000)) < 0.05,
       "the slowest is faster by %.3f, by its limit", gain(&p));
    is_int(power_response_steps(&p.response), 4,
           "progress is about in proportion: four steps at a time");
}

/* A program that waits for memory. */
static void test_does_not_follow(void)
{
    struct program p = program(0, 0.01);

    next_round(&p, 1);
    move(&p, 50000);
    next_round(&p, 1);
    ok(gain(&p) < 0.02, "nodes that do not follow: no gain (%.3f)", gain(&p));
    is_int(power_response_steps(&p.response), 1, "and a step at a time");
}

static void test_steep(void)
{
    struct program p = program(2.5, 0);

    next_round(&p, 1);
    move(&p, 50000);
    next_round(&p, 1);
    is_int(power_response_steps(&p.response), 1,
           "progress steeper than that: a step at a time");
}

static void test_still(void)
{
    struct program p = program(1, 0.02);
    double least;

    next_round(&p, 1);
    move(&p, 50000);
    next_round(&p, 1);
    least = power_response_least(&p.response);
    for (int i = 0; i < 50; i++)
        next_round(&p, 1);
    ok(power_response_least(&p.response) == least,
       "rounds in which no limit moves tell nothing, and nothing is forgotten");
}

/* One of two is not seen any more: nothing can be compared. */
static void test_alone(void)
{
    struct power_node node[2] = {{.progress = 1, .limit = 100},
                                 {.progress = 0}};
    struct power_seen seen[2] = {{.limit = 0}};
    struct power_response r = {.n = 0};

    for (uint64_t limit = 100; limit < 200; limit += 20) {
        node[0].limit = limit;
        node[0].progress = (double)limit;
        power_response_note(&r, seen, node, 2);
    }
    ok(r.n == 0 && isinf(power_response_most(&r))
           && power_response_exponent(&r) == 1,
       "a single node that reports tells nothing: it is taken to follow");
    ok(!(power_response_gain(&r, seen, node, 2) > 0), "nor is there a gain");
}

static void test_promise(void)
{
    struct power_node node[NODES];
    struct power_seen seen[NODES];

    for (size_t i = 0; i < NODES; i++) {
        node[i] = (struct power_node){.progress = 1 / work[i], .limit = 500000};
        seen[i] = (struct power_seen){5e5, 1 / work[i], 5e5};
    }
    ok(fabs(power_promise(node, NODES) - (1 - 4.6 / 4 / 1.6)) < 1e-9,
       "work of 1, 1, 1, 1.6 promises %.3f", power_promise(node, NODES));
    node[3].progress = 0;
    ok(power_promise(node, NODES) < 1e-9,
       "one that does not report is left out");
    node[3] = (struct power_node){.progress = 0.5, .limit = 250000};
    ok(fabs(power_loss(seen, node, NODES) - 0.5) < 1e-9,
       "one at half of its limit that comes last has cost %.3f of the time",
       power_loss(seen, node, NODES));
    node[0].limit = 250000;
    node[0].ceiling = 500000;
    power_keep_depth(0.8, 1, seen, node, 1);
    ok(node[0].limit == 400000 && node[0].floor == 400000
           && fabs(node[0].progress - 1.6) < 1e-9,
       "nobody stays below the part of the start that is allowed");
    for (size_t i = 0; i < NODES; i++)
        node[i].limit = 0;
    ok(power_promise(node, NODES) == 0, "no limits, no promise");
}

int main(void)
{
    test_exponent(1, 0);
    test_exponent(1, 0.02);
    test_exponent(0.5, 0.02);
    test_exponent(0, 0.02);
    test_gain();
    test_does_not_follow();
    test_steep();
    test_still();
    test_alone();
    test_promise();
    return done();
}
