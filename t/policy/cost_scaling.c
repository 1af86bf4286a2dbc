#include "policy/cost.h"
#include "policy/random.h"
#include "tap.h"

#define NODES 4
#define RUNS  12

static const double told[NODES] = {8, 4, 2, 1};

/* What a run is like: speeds are as told^exponent, but for so much; and the last node
 * so much slower. */
struct world {
    double exponent, off, noise, slower;
    struct rng random;
};

static double about(struct world *w, double deviation)
{
    return exp(deviation * random_normal(&w->random));
}

/* Of three frames, each half of the one before, one piece a node, of units that take
 * 0.02 s at the mean, and all the same time where a node is as the exponent says. */
static void frames(struct cost *c, struct world *w)
{
    double slower[NODES];

    for (size_t i = 0; i < NODES; i++)
        slower[i] = about(w, w->off);
    if (w->slower > 0)
        slower[NODES - 1] = w->slower;
    for (int f = 0; f < 3; f++) {
        for (size_t i = 0; i < NODES; i++) {
            double part = 1.0 / (1 << f);
            double units = part * 40 * pow(told[i], w->exponent);
            double seconds = 0.5 + part * 0.8 * slower[i] * about(w, w->noise);

            cost_add(c, i, &(struct cost_part){.units = units},
                     &(struct cost_run){.seconds = seconds});
        }
        cost_fit(c);
    }
}

static struct cost *begin(const double speeds[], const struct cost_scaling *s)
{
    struct cost *c = cost_create(NODES, NULL);

    if (!c)
        bail("no memory");
    cost_expect(c, &(struct cost_terms){0.5, 0, 0.02}, 0.02);
    cost_expect_speeds(c, speeds);
    if (s)
        cost_expect_scaling(c, s);
    return c;
}

/* Runs that tell each other what they have learned, as files of the history do. */
static struct cost_scaling after_runs(struct world *w, int runs)
{
    struct cost_scaling s = {.exponent = 1, .loose = 0.1};

    for (int i = 0; i < runs; i++) {
        struct cost *c = begin(told, &s);

        frames(c, w);
        s = cost_scaling(c);
        cost_destroy(c);
    }
    return s;
}

static void test_learned(double exponent)
{
    struct world w = {.exponent = exponent, .noise = 0.01};
    struct cost_scaling s;
    struct cost *c;
    double sum = 0;

    random_init(&w.random, GENERATOR_LCG32, 7);
    s = after_runs(&w, 1);
    is_near(s.exponent, exponent, 0.3 * fabs(exponent - 1) + 0.02,
            "one run tells most of it");
    s = after_runs(&w, RUNS);
    is_near(s.exponent, exponent, 0.02, "a dozen tell it");
    ok(s.loose < 0.03, "and that nodes keep to it (%g)", s.loose);
    c = begin(told, &s);
    for (size_t i = 0; i < NODES; i++)
        sum += pow(told[i], s.exponent);
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(c, i), NODES * pow(told[i], s.exponent) / sum, 1e-9,
                "the next run begins with speeds by that");
    cost_destroy(c);
}

/* Nodes that do not keep to any exponent are believed as far as they do. */
static void test_loose(void)
{
    struct world w = {.exponent = 1, .off = 0.15, .noise = 0.01};
    struct cost_scaling s;

    random_init(&w.random, GENERATOR_LCG32, 9);
    s = after_runs(&w, RUNS);
    ok(s.loose > 0.06, "nodes that do not keep to it (%g)", s.loose);
    is_near(s.exponent, 1, 0.1, "do not bend it much");
}

static double spread_of(double loose)
{
    const struct cost_scaling s = {.exponent = 1, .loose = loose};
    struct cost *c = begin(told, &s);
    double spread = cost_spread_unseen(c, 3);

    cost_destroy(c);
    return spread;
}

static void test_spread(void)
{
    const struct cost_scaling s = {.exponent = 1, .loose = 0.05};
    struct world w = {.exponent = 1, .noise = 0.02};
    struct cost *c = begin(told, &s);
    double before = cost_spread_unseen(c, 3);

    random_init(&w.random, GENERATOR_LCG32, 3);
    is_near(spread_of(0.05), hypot(0.02, 0.05), 1e-12,
            "a node that was only told may be off by both");
    is_near(cost_spread(c, 3), 0.02, 1e-12, "where that counts");
    frames(c, &w);
    ok(cost_spread_unseen(c, 3) < before / 1.5, "less when it was seen");
    cost_destroy(c);
}

/* In one run a stranger takes half of the slowest node. */
static void test_stranger(int runs, double most)
{
    struct world w = {.exponent = 1, .noise = 0.01};
    struct cost_scaling s;
    struct cost *c;

    random_init(&w.random, GENERATOR_LCG32, 13);
    s = after_runs(&w, runs);
    w.slower = 2;
    c = begin(told, &s);
    frames(c, &w);
    s = cost_scaling(c);
    ok(fabs(s.exponent - 1) < most,
       "a stranger after %d runs bends it little (%g)", runs, s.exponent);
    cost_destroy(c);
}

/* Where nothing can be learned what was believed stays. */
static void test_nothing(void)
{
    static const double none[NODES], one[NODES] = {0, 0, 3, 0},
                                     alike[NODES] = {2, 2, 2, 2};
    static const double *const speeds[] = {none, one, alike};
    const struct cost_scaling before = {.exponent = 1.3, .loose = 0.05};

    for (size_t k = 0; k < 3; k++) {
        struct world w = {.exponent = 1, .noise = 0.01};
        struct cost *c = begin(speeds[k], &before);

        random_init(&w.random, GENERATOR_LCG32, 5);
        is_near(cost_scaling(c).exponent, 1.3, 1e-12, "before any piece");
        frames(c, &w);
        is_near(cost_scaling(c).exponent, 1.3, 1e-9,
                "nobody told, one, or all alike");
        cost_destroy(c);
    }
}

static void test_late(void)
{
    const struct cost_scaling s = {.exponent = 2, .loose = 0.05};
    struct world w = {.exponent = 1, .noise = 0.01};
    struct cost *c = begin(told, NULL);
    double before;

    random_init(&w.random, GENERATOR_LCG32, 5);
    frames(c, &w);
    before = cost_speed(c, 0);
    cost_expect_scaling(c, &s);
    is_near(cost_speed(c, 0), before, 0,
            "pieces count for more than runs before");
    cost_destroy(c);
}

/* Whatever a file says: speeds are those of a node, and add up. */
static void test_odd(void)
{
    static const double odd[] = {
        0, -1, 1e-300, 1e300, (double)INFINITY, (double)-INFINITY, (double)NAN};
    static const double far[NODES] = {1e98, 1e-98, 1, 0};
    const size_t n = sizeof odd / sizeof odd[0];
    int are_good = 1;

    for (size_t k = 0; k < n * n * n * 2; k++) {
        const struct cost_scaling s = {odd[k % n], odd[k / n % n],
                                       odd[k / n / n % n]};
        struct world w = {.exponent = 1, .noise = 0.01};
        struct cost *c = begin(k % 2 ? told : far, &s);
        struct cost_scaling after;
        double sum = 0;

        random_init(&w.random, GENERATOR_LCG32, 5);
        frames(c, &w);
        after = cost_scaling(c);
        for (size_t i = 0; i < NODES; i++)
            sum += cost_speed(c, i);
        are_good &= fabs(sum - NODES) < 1e-6 && after.exponent >= 0.25
                    && after.exponent <= 2 && after.loose > 0
                    && after.loose <= 0.2 && after.sure > 0
                    && after.sure <= 100;
        cost_destroy(c);
    }
    ok(are_good, "nothing that was believed leads astray");
}

int main(void)
{
    test_learned(1);
    test_learned(1.1);
    test_learned(0.6);
    test_loose();
    test_stranger(0, 0.2);
    test_stranger(RUNS, 0.01);
    test_spread();
    test_nothing();
    test_late();
    test_odd();
    return done();
}
