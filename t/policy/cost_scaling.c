#include "policy/cost.h"
#include "policy/random.h"
#include "tap.h"

#define NODES 4
#define RUNS  12

static const double told[NODES] = {8, 4, 2, 1};

/* What a run is like: speeds are as told^exponent, but for so much; and the last node
 * so much slower. */
struct world {
    double exponent, off, noise, slower, burn;
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
            double own = w->burn / told[i] + part * 0.8;
            double seconds = 0.5 + own * slower[i] * about(w, w->noise);

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
    struct cost_scaling s = {.exponent = 0};

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

static void test_spread(void)
{
    const struct cost_scaling s = {.exponent = 1, .loose = 0.05, .sure = 1};
    struct world w = {.exponent = 1, .noise = 0.02};
    struct cost *c = begin(told, &s);

    random_init(&w.random, GENERATOR_LCG32, 3);
    is_near(cost_spread_unseen(c, 3), hypot(0.02, 0.05), 1e-12,
            "a node that was only told may be off by both");
    is_near(cost_spread(c, 3), 0.02, 1e-12, "where that counts");
    frames(c, &w);
    is_near(cost_spread_unseen(c, 3), cost_noise(c), 1e-12,
            "not when it was seen");
    cost_destroy(c);
    c = begin(told, NULL);
    is_near(cost_spread_unseen(c, 3), hypot(0.02, 0.1), 1e-12,
            "a tenth before any run");
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
    static const double none[NODES] = {0}, one[NODES] = {0, 0, 3, 0},
                        alike[NODES] = {2, 2.1, 1.95, 2};
    static const double *const speeds[] = {none, one, alike};
    const struct cost_scaling before = {
        .exponent = 1.3, .loose = 0.05, .sure = 2};

    for (size_t k = 0; k < 3; k++) {
        struct world w = {.exponent = 1, .noise = 0.01};
        struct cost *c = begin(speeds[k], &before);

        random_init(&w.random, GENERATOR_LCG32, 5);
        is_near(cost_scaling(c).exponent, 1.3, 0, "before any piece");
        frames(c, &w);
        is_near(cost_scaling(c).exponent, 1.3, 0,
                "nobody told, one, or all alike");
        cost_destroy(c);
        c = begin(speeds[k], NULL);
        frames(c, &w);
        is_near(cost_scaling(c).exponent, 0, 0, "and it is not known then");
        cost_destroy(c);
    }
}

/* Nodes of one speed but for the last, measured with an error: one piece each, twice. */
static double among_many(size_t nodes, double last, double off)
{
    struct cost *c = cost_create(nodes, NULL);
    double *speed = calloc(nodes, sizeof *speed);
    struct rng r;
    struct cost_scaling s;

    if (!c || !speed)
        bail("no memory");
    random_init(&r, GENERATOR_LCG32, 17);
    for (size_t i = 0; i < nodes; i++)
        speed[i] = (i == nodes - 1 ? last : 1) * exp(off * random_normal(&r));
    cost_expect(c, &(struct cost_terms){0.5, 0, 0.02}, 0.02);
    cost_expect_speeds(c, speed);
    for (int f = 1; f <= 2; f++) {
        for (size_t i = 0; i < nodes; i++) {
            double units = (i == nodes - 1 ? last : 1) * 40 * f;

            cost_add(
                c, i, &(struct cost_part){.units = units},
                &(struct cost_run){
                    .seconds = 0.5 + 0.8 * f * exp(0.01 * random_normal(&r))});
        }
        cost_fit(c);
    }
    s = cost_scaling(c);
    cost_destroy(c);
    free(speed);
    return s.exponent;
}

/* Errors of what was measured are none of the command. */
static void test_measured(void)
{
    is_near(among_many(400, 1, 0.06), 0, 0,
            "nodes that are alike tell nothing");
    is_near(among_many(200, 0.125, 0.03), 1, 0.1,
            "one of another speed beside many does");
    is_near(among_many(1000, 0.125, 0.03), 1, 0.1, "or very many");
}

/* Of a command that mostly waits its pieces say little of speeds. */
static void test_waits(void)
{
    const struct cost_scaling before = {
        .exponent = 1, .loose = 0.03, .sure = 2};
    struct rng r;
    double worst = 0;

    random_init(&r, GENERATOR_LCG32, 23);
    for (int k = 0; k < 50; k++) {
        struct cost *c = cost_create(NODES, NULL);

        if (!c)
            bail("no memory");
        cost_expect(c, &(struct cost_terms){0.9, 0, 0.02}, 0.05);
        cost_expect_speeds(c, told);
        cost_expect_scaling(c, &before);
        for (int f = 0; f < 3; f++) {
            for (size_t i = 0; i < NODES; i++)
                cost_add(c, i, &(struct cost_part){.units = 5 * told[i] / 3.75},
                         &(struct cost_run){.seconds =
                                                exp(0.05 * random_normal(&r))});
            cost_fit(c);
        }
        worst = fmax(worst, fabs(cost_scaling(c).exponent - 1));
        cost_destroy(c);
    }
    ok(worst < 0.03, "one that mostly waits tells little (%g)", worst);
}

/* The slots of a node are one in that: so many are no surer. */
static void test_slots(void)
{
    static const size_t group[2 * NODES] = {0, 0, 2, 2, 4, 4, 6, 6};
    double speeds[2 * NODES];
    struct cost *c = cost_create(2 * NODES, group), *single = begin(told, NULL);

    if (!c)
        bail("no memory");
    for (size_t i = 0; i < 2 * NODES; i++)
        speeds[i] = told[i / 2];
    cost_expect(c, &(struct cost_terms){0.5, 0, 0.02}, 0.02);
    cost_expect_speeds(c, speeds);
    for (size_t i = 0; i < 2 * NODES; i++) {
        cost_add(c, i, &(struct cost_part){.units = 40 * told[i / 2]},
                 &(struct cost_run){.seconds = 1.3});
        cost_add(single, i / 2, &(struct cost_part){.units = 40 * told[i / 2]},
                 &(struct cost_run){.seconds = 1.3});
    }
    cost_fit(c);
    cost_fit(single);
    is_near(cost_scaling(c).sure, cost_scaling(single).sure, 0.2,
            "the slots of a node count as one");
    cost_destroy(c);
    cost_destroy(single);
}

/* What is told in the middle of a run may have been learned in it: that is not taken
 * for what was measured.  What is told of a node that is new was measured. */
static void test_late(void)
{
    const struct cost_scaling before = {
        .exponent = 1.3, .loose = 0.03, .sure = 2};
    const struct cost_scaling late = {.exponent = 2, .loose = 0.05, .sure = 1};
    struct cost *c = begin((const double[]){8, 4, 2, 0}, &before);
    double now[NODES] = {0};

    for (int f = 1; f <= 3; f++) {
        for (size_t i = 0; i < NODES - 1; i++)
            cost_add(c, i,
                     &(struct cost_part){.units = f * 40 * pow(told[i], 1.3)},
                     &(struct cost_run){.seconds = 0.5 + 0.8 * f});
        cost_fit(c);
    }
    for (size_t i = 0; i < NODES; i++)
        now[i] = cost_speed(c, i);
    cost_expect_scaling(c, &late);
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(c, i), now[i], 0,
                "pieces count for more than runs before");
    cost_expect_speeds(c, told);
    is_near(cost_speed(c, 3) / cost_speed(c, 0), pow(1.0 / 8, 1.3), 0.005,
            "one that comes late is as the exponent says");
    now[3] = (now[0] + now[1] + now[2]) / (8 + 4 + 2);
    cost_expect_speeds(c, now);
    is_near(cost_speed(c, 3) / cost_speed(c, 0), pow(1.0 / 8, 1.3), 0.02,
            "also where others are told as they were learned");
    is_near(cost_scaling(c).exponent, 1.3, 0.03,
            "and none of that is taken for what was measured");
    cost_destroy(c);
}

/* What was learned may be wrong, however sure of it, and what a start works may hide
 * that. */
static void test_wrong(double burn, double believed, size_t nodes)
{
    struct world w = {.exponent = 1, .noise = 0.01, .burn = burn};
    struct cost_scaling s = {.exponent = believed, .loose = 0.02, .sure = 7};
    const double some[NODES] = {8, nodes > 2 ? 4 : 0, 2, nodes > 2 ? 1 : 0};

    random_init(&w.random, GENERATOR_LCG32, 29);
    for (int i = 0; i < RUNS; i++) {
        struct cost *c = begin(some, &s);

        frames(c, &w);
        s = cost_scaling(c);
        cost_destroy(c);
    }
    ok(fabs(s.exponent - 1) < 0.1,
       "a wrong one is unlearned (%zu nodes, burn %g, %g: %g)", nodes, burn,
       believed, s.exponent);
}

static void test_odd(void)
{
    static const double odd[] = {
        0, -1, 1e-300, 1e300, (double)INFINITY, (double)-INFINITY, (double)NAN};
    static const struct cost_scaling good = {1.5, 0.1, 2};
    static const double far[NODES] = {1e98, 1e-98, 1, 0};
    struct world w = {.exponent = 1, .noise = 0.01};
    struct cost_scaling after;
    struct cost *c;
    int holds = 0;

    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
        struct cost_scaling s[] = {good, good, good};

        s[0].exponent = s[1].loose = s[2].sure = odd[k];
        for (size_t i = 0; i < 3; i++)
            holds += cost_scaling_holds(&s[i]);
    }
    ok(holds == 0 && cost_scaling_holds(&good), "one that cannot be is none");
    random_init(&w.random, GENERATOR_LCG32, 5);
    c = begin(far, &good);
    frames(c, &w);
    after = cost_scaling(c);
    ok(cost_scaling_holds(&after) && after.sure > good.sure,
       "speeds as far apart as can be");
    cost_destroy(c);
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
    test_measured();
    test_waits();
    test_slots();
    test_wrong(0, 0.7, 4);
    test_wrong(0.3, 0.7, 4);
    test_wrong(0, 0.3, 4);
    test_wrong(0, 1.9, 4);
    test_wrong(0, 0.4, 2);
    test_late();
    test_odd();
    return done();
}
