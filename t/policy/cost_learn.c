/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run of few pieces teaches the next one, of which one piece hangs. */
#include "policy/cost.h"
#include "policy/random.h"
#include "tap.h"

#define NODES 4
#define SEEDS 40

static const double speeds[NODES] = {1.6, 1.2, 0.8, 0.4};
static const struct cost_terms usual = {.wait = 0.3, .each = 0.02};

/* What a run is like: its noise, whether all nodes have two pieces or every other
 * one, and by how much longer one takes: that of a node, its first or its second. */
struct world {
    double noise, longer;
    int have_two, piece, with_cpu;
    size_t node;
    struct rng random;
};

static void add(struct cost *c, struct world *w, size_t node, int piece)
{
    double units = 100 * speeds[node] * (piece ? 0.6 : 1);
    double own = usual.each * units / speeds[node];
    double seconds =
        usual.wait + own * exp(w->noise * random_normal(&w->random));

    if (w->longer > 0 && node == w->node && piece == w->piece)
        seconds *= w->longer;
    cost_add(c, node, &(struct cost_part){.units = units},
             &(struct cost_run){.seconds = seconds,
                                .cpu = w->with_cpu ? usual.each * units : 0});
}

/* Of a command that is known. */
static struct cost *create(double noise_before)
{
    struct cost *c = cost_create(NODES, NULL);

    if (!c)
        bail("no memory");
    cost_expect_speeds(c, speeds);
    cost_expect(c, &usual, noise_before);
    return c;
}

/* A run of few pieces. */
static struct cost *run(struct world *w, double noise_before)
{
    struct cost *c = create(noise_before);

    for (size_t i = 0; i < NODES; i++)
        add(c, w, i, 0);
    cost_fit(c);
    for (size_t i = 0; i < NODES; i += w->have_two ? 1 : 2)
        add(c, w, i, 1);
    cost_fit(c);
    return c;
}

/* The noise that a run of such a world ends with, in the mean and at most. */
static double noise_after(struct world *w, double before, double *most)
{
    double sum = 0;

    *most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct cost *c;

        random_init(&w->random, GENERATOR_LCG32, seed);
        c = run(w, before);
        sum += cost_noise(c) / SEEDS;
        *most = fmax(*most, cost_noise(c));
        cost_destroy(c);
    }
    return sum;
}

/* One piece of six hangs: the next run would cut all of them finer. */
static void test_hang(size_t node, int piece, int with_cpu)
{
    struct world w = {.noise = 0.03,
                      .longer = 6,
                      .node = node,
                      .piece = piece,
                      .with_cpu = with_cpu};
    double most, after = noise_after(&w, 0.03, &most);

    ok(after < (with_cpu ? 0.11 : 0.05) && most < 0.13,
       "piece %d of node %zu hangs%s: a noise of 0.03 is %.3f, at most %.3f",
       piece, node, with_cpu ? " (CPU time)" : "", after, most);
}

/* All are as noisy from now on. */
static void test_noise(double before, double noise)
{
    struct world w = {.noise = noise, .have_two = 1};
    double most, after = noise_after(&w, before, &most);

    after = noise_after(&w, after, &most);
    ok(after > 0.45 * noise && after < 2 * noise,
       "two runs tell about half of a noise of %g after %g: %.3f", noise,
       before, after);
}

/* The last piece of a node hangs, and no other is to come that says whether the node
 * is slow now. */
static void test_settle(size_t node, int with_cpu)
{
    struct world w = {.noise = 0.02,
                      .longer = 6,
                      .node = node,
                      .piece = 1,
                      .with_cpu = with_cpu};
    struct cost *c;
    double slow;

    random_init(&w.random, GENERATOR_LCG32, 17);
    c = run(&w, 0.03);
    slow = cost_speed(c, node) / cost_speed(c, 1);
    ok(slow < 0.7 * speeds[node] / speeds[1],
       "node %zu may be slow from its last piece on", node);
    cost_settle(c);
    is_near(cost_speed(c, node) / cost_speed(c, 1), speeds[node] / speeds[1],
            0.06 * speeds[node], "at the end that is not believed");
    is_near(cost_terms(c).wait, usual.wait, 0.06, "it waits as before");
    is_near(cost_terms(c).burn, usual.burn, 0.03, "its start is no more work");
    is_near(cost_terms(c).each, usual.each, 0.0016, "nor is a unit");
    ok(cost_noise(c) < 0.045, "nor is it noisy: %.3f", cost_noise(c));
    cost_destroy(c);
}

/* A node that all its pieces say is slow is believed to be. */
static void test_settle_slow(void)
{
    struct world w = {.noise = 0.02, .have_two = 1};
    double before, ratio = speeds[2] / speeds[1];
    struct cost *c;

    random_init(&w.random, GENERATOR_LCG32, 19);
    c = create(0.03);
    w.longer = 3;
    w.node = 2;
    for (int piece = 0; piece < 2; piece++) {
        w.piece = piece;
        for (size_t i = 0; i < NODES; i++)
            add(c, &w, i, piece);
        cost_fit(c);
    }
    before = cost_speed(c, 2) / cost_speed(c, 1);
    cost_settle(c);
    is_near(cost_speed(c, 2) / cost_speed(c, 1), before, 0,
            "a node that two pieces say is slow stays so");
    ok(before < ratio / 2, "and is: %.2f of %.2f", before, ratio);
    cost_destroy(c);
}

/* Units are dearer on all nodes from their last pieces on. */
static void test_settle_all(void)
{
    struct world w = {.noise = 0.02, .have_two = 1};
    struct cost *c;

    random_init(&w.random, GENERATOR_LCG32, 23);
    c = create(0.03);
    for (size_t i = 0; i < NODES; i++)
        add(c, &w, i, 0);
    cost_fit(c);
    w.longer = 3;
    w.piece = 1;
    for (size_t i = 0; i < NODES; i++) {
        w.node = i;
        add(c, &w, i, 1);
    }
    cost_fit(c);
    cost_settle(c);
    is_near(cost_seconds(c, 1, 60), 3 * (usual.wait + 60 * usual.each / 1.2),
            0.3, "what all nodes say is believed");
    cost_destroy(c);
}

/* The node with that piece has had none for so long that it is as it was told. */
static void test_settle_old(void)
{
    struct world w = {
        .noise = 0.02, .have_two = 1, .longer = 6, .node = 0, .piece = 1};
    struct cost *c;

    random_init(&w.random, GENERATOR_LCG32, 29);
    c = run(&w, 0.03);
    for (int k = 0; k < 100 * NODES; k++) {
        add(c, &w, 1 + (size_t)k % (NODES - 1), k % 2);
        cost_fit(c);
    }
    cost_settle(c);
    is_near(cost_speed(c, 0) / cost_speed(c, 1), speeds[0] / speeds[1], 0.1,
            "what is forgotten is not doubted");
    is_near(cost_terms(c).each, usual.each, 0.0016, "a unit is as it was");
    cost_destroy(c);
}

int main(void)
{
    for (size_t node = 0; node < NODES; node++)
        for (int with_cpu = 0; with_cpu < 2; with_cpu++) {
            test_hang(node, 0, with_cpu);
            if (node % 2 == 0)
                test_hang(node, 1, with_cpu);
        }
    test_noise(0.03, 0.1);
    test_noise(0.03, 0.2);
    test_noise(0.1, 0.03);
    test_noise(0.3, 0.1);
    for (int with_cpu = 0; with_cpu < 2; with_cpu++) {
        test_settle(0, with_cpu);
        test_settle(2, with_cpu);
    }
    test_settle_slow();
    test_settle_all();
    test_settle_old();
    return done();
}
