#include "policy/cost.h"
#include "policy/random.h"
#include "tap.h"

#define NODES 4

/* What is really so. */
struct world {
    struct cost_terms terms;
    double speed[NODES], noise;
    struct rng random;
};

static const double speeds[NODES] = {1.6, 1.2, 0.8, 0.4};

static double seconds_of(struct world *w, size_t node, double units)
{
    double noise = exp(w->noise * random_normal(&w->random));

    return w->terms.wait
           + (w->terms.burn + w->terms.each * units) / w->speed[node] * noise;
}

static struct world world_of(double wait,
                             double burn,
                             double each,
                             double noise)
{
    struct world w = {.terms = {wait, burn, each}, .noise = noise};

    memcpy(w.speed, speeds, sizeof speeds);
    random_init(&w.random, GENERATOR_LCG32, 11);
    return w;
}

/* A frame in which each node does two pieces of unlike size. */
static void frame(struct cost *c, struct world *w)
{
    for (size_t i = 0; i < NODES; i++) {
        double part = 100 * w->speed[i];

        cost_add(c, i, part * (0.25 + 0.1 * (double)i),
                 seconds_of(w, i, part * (0.25 + 0.1 * (double)i)));
        cost_add(c, i, part * 0.7, seconds_of(w, i, part * 0.7));
    }
    cost_fit(c);
}

static void test_terms(double wait, double burn, double noise)
{
    struct world w = world_of(wait, burn, 0.02, noise);
    struct cost *c = cost_create(NODES, NULL);
    struct cost_terms terms;
    double near = noise > 0 ? 5 * noise : 1e-3;

    cost_expect_speeds(c, speeds);
    ok(!cost_is_known(c), "nothing is known before");
    for (int f = 0; f < 6; f++)
        frame(c, &w);
    terms = cost_terms(c);
    ok(cost_is_known(c), "after six frames it is");
    is_near(terms.wait, wait, near * (wait + 0.1), "what waits");
    is_near(terms.burn, burn, near * (burn + 0.1), "what starting burns");
    is_near(terms.each, 0.02, near * 0.02, "what a unit takes");
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(c, i), speeds[i], near * speeds[i], "its speed");
    is_near(cost_seconds(c, 3, 10), wait + (burn + 0.2) / 0.4,
            near * (wait + (burn + 0.2) / 0.4), "what ten units take there");
    cost_destroy(c);
}

int main(void)
{
    test_terms(0, 0, 0);
    test_terms(0.6, 0, 0);
    test_terms(0, 0.1, 0);
    test_terms(0.3, 0.3, 0);
    test_terms(0.6, 0, 0.02);
    return done();
}
