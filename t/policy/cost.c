#include "policy/cost.h"
#include "cost.h"
#include "policy/random.h"
#include "tap.h"

#define NODES 4

/* What is really so. */
struct world {
    struct cost_terms terms;
    double speed[NODES], noise;
    struct rng random;
};

static void add(struct cost *c, size_t node, double units, double seconds)
{
    cost_add(c, node, &(struct cost_part){.units = units},
             &(struct cost_run){.seconds = seconds});
}

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

        add(c, i, part * (0.25 + 0.1 * (double)i),
            seconds_of(w, i, part * (0.25 + 0.1 * (double)i)));
        add(c, i, part * 0.7, seconds_of(w, i, part * 0.7));
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

/* --- whatever the units --------------------------------------------------- */

/* The same story told in other units of time, work and speed. */
static struct cost *told_in(double time, double work, double speed)
{
    struct world w = world_of(0.6, 0.3, 0.02, 0.05);
    struct cost *c = cost_create(NODES, NULL);
    double in_unit[NODES];

    for (size_t i = 0; i < NODES; i++)
        in_unit[i] = speed * (speeds[i] + 0.05 * (double)i);
    cost_expect_speeds(c, in_unit);
    for (int k = 0; k < 24; k++) {
        size_t node = (size_t)k % NODES;
        double units = 20 + 15 * (double)(k % 7);

        add(c, node, work * units, time * seconds_of(&w, node, units));
        if (k % 6 == 5)
            cost_fit(c);
    }
    return c;
}

static void test_units(double time, double work, double speed)
{
    struct cost *a = told_in(1, 1, 1), *b = told_in(time, work, speed);
    struct cost_terms x = cost_terms(a), y = cost_terms(b);

    is_near(y.wait / time, x.wait, 1e-6 * x.wait, "wait has the unit of time");
    is_near(y.burn / time, x.burn, 1e-6, "burn as well");
    is_near(y.each / time * work, x.each, 1e-6 * x.each, "each is by work");
    is_near(cost_noise(b), cost_noise(a), 1e-6, "noise is relative");
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(b, i), cost_speed(a, i), 1e-6, "and so are speeds");
    cost_destroy(a);
    cost_destroy(b);
}

/* --- what is no measurement ----------------------------------------------- */

static int is_sound(const struct cost *c, size_t nodes)
{
    struct cost_terms t = cost_terms(c);
    double sum = 0, noise = cost_noise(c);
    int good = t.wait >= 0 && t.burn >= 0 && t.each >= 0 && isfinite(t.wait)
               && isfinite(t.burn) && isfinite(t.each) && noise > 0
               && noise <= 1 && cost_is_known(c) == (t.each > 0);

    for (size_t i = 0; i < nodes; i++) {
        double speed = cost_speed(c, i), few = cost_seconds(c, i, 1);

        good &= isfinite(speed) && speed > 0 && isfinite(few)
                && cost_seconds(c, i, 2) >= few;
        sum += speed;
    }
    return good && fabs(sum / (double)nodes - 1) < 1e-9;
}

static void test_nonsense(void)
{
    static const double none[] = {
        0, -1, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, 1e-300};
    struct cost *c = cost_create(NODES, NULL);
    double bad[NODES] = {0, -1, (double)NAN, (double)INFINITY};
    struct cost_terms t;

    cost_fit(c);
    ok(is_sound(c, NODES) && !cost_is_known(c), "of nothing nothing is known");
    is_near(cost_seconds(c, 0, 10), 0, 0, "nor what anything takes");
    cost_expect_speeds(c, bad);
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(c, i), 1, 1e-12, "no speed is told: all are alike");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        add(c, 0, none[i], 1);
        add(c, 1, 1, none[i]);
        t = (struct cost_terms){.wait = 1, .each = none[i]};
        cost_expect(c, &t, 0.1);
        cost_fit(c);
        ok(is_sound(c, NODES) && !cost_is_known(c), "%g is no measurement",
           none[i]);
    }
    t = (struct cost_terms){.wait = (double)NAN, .burn = -1, .each = 1};
    cost_expect(c, &t, (double)NAN);
    ok(is_sound(c, NODES), "terms that are none are left out");
    is_near(cost_terms(c).each, 1, 0, "and the others are known");
    is_near(cost_spread(c, 0), hypot(0.5, cost_noise(c)), 1e-12,
            "what an unknown node does is uncertain");
    add(c, 0, 10, 10);
    cost_fit(c);
    is_near(cost_spread(c, 0), sqrt(2) * cost_noise(c), 1e-3,
            "after one piece it is about as that was");
    cost_destroy(c);
}

/* --- what is believed before ---------------------------------------------- */

static void test_expected(void)
{
    const struct cost_terms before = {.wait = 0.5, .burn = 0.25, .each = 0.02};
    const double odd[NODES] = {8, 4, 0, 4};
    struct cost *c = cost_create(NODES, NULL);
    struct cost_terms t;

    cost_expect_speeds(c, odd);
    is_near(cost_speed(c, 0), 1.5, 1e-12, "told speeds have a mean of 1");
    is_near(cost_speed(c, 1), 0.75, 1e-12, "whatever their unit");
    is_near(cost_speed(c, 2), 1, 1e-12, "who has none is in the middle");
    cost_expect(c, &before, 0.2);
    ok(cost_is_known(c), "a command is known by its runs before");
    t = cost_terms(c);
    is_near(t.wait, 0.5, 0, "what it waits");
    is_near(t.burn, 0.25, 1e-15, "what it burns");
    is_near(t.each, 0.02, 1e-15, "what a unit takes");
    is_near(cost_noise(c), 0.2, 0, "its noise");
    is_near(cost_seconds(c, 1, 100), 0.5 + 2.25 / 0.75, 1e-12, "what it takes");
    is_near(cost_spread(c, 1), 0.2, 0, "a told speed is trusted");
    ok(cost_spread(c, 2) > 0.5, "one that was not is not");
    cost_expect(c, &before, 7);
    is_near(cost_noise(c), 1, 0, "no noise is above all bounds");
    cost_destroy(c);
}

/* They were of another work: ten times as much a unit, or a start where there
 * is none.  After the first two frames that is forgotten. */
static void test_wrong(double wait, double each)
{
    const struct cost_terms before = {.wait = wait, .each = each};
    struct world w = world_of(0.3, 0, 0.02, 0.02);
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    cost_expect(c, &before, 0.05);
    frame(c, &w);
    is_near(cost_seconds(c, 1, 80), 0.3 + 1.6 / 1.2, 0.3,
            "a wrong belief is nearly gone after one frame");
    frame(c, &w);
    is_near(cost_terms(c).wait, 0.3, 0.1, "after two its wait");
    is_near(cost_terms(c).each, 0.02, 0.002, "and its units are known");
    cost_destroy(c);
}

/* A unit's worth of one piece is not yet worth more than many runs. */
static void test_right(void)
{
    const struct cost_terms before = {.wait = 0.6, .each = 0.02};
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    cost_expect(c, &before, 0.05);
    add(c, 0, 80, 0.6 + 1.05);
    cost_fit(c);
    is_near(cost_terms(c).wait, 0.6, 0.06, "one piece does not tell of a wait");
    is_near(cost_terms(c).each, 0.02, 0.002, "nor what a unit is, alone");
    cost_destroy(c);
}

/* Told again, in the middle: who has pieces keeps what they say. */
static void test_told_again(void)
{
    const double other[NODES] = {1, 2, 3, 100};
    struct world w = world_of(0.3, 0, 0.02, 0);
    struct cost *c = cost_create(NODES, NULL);
    double before;

    cost_expect_speeds(c, speeds);
    for (int f = 0; f < 4; f++)
        frame(c, &w);
    before = cost_seconds(c, 0, 50);
    cost_expect_speeds(c, other);
    is_near(cost_seconds(c, 0, 50), before, 1e-9, "nothing is another");
    ok(is_sound(c, NODES), "and all is in order");
    cost_destroy(c);
}

/* Only one has had pieces when it is told that the other is an eighth as fast. */
static void test_told_late(void)
{
    static const double alike[2] = {1, 1}, real[2] = {8, 1};
    struct cost *c = cost_create(2, NULL);

    cost_expect_speeds(c, alike);
    for (int k = 0; k < 4; k++)
        add(c, 0, 20 + 10 * k, 0.2 + 0.02 * (20 + 10 * k));
    cost_fit(c);
    cost_expect_speeds(c, real);
    is_near(cost_speed(c, 0) / cost_speed(c, 1), 8, 0.1,
            "one that comes late is taken for what it is told");
    is_near(cost_seconds(c, 0, 40), 1, 0.1, "and the other for what it was");
    cost_destroy(c);
}

/* --- groups --------------------------------------------------------------- */

static void test_groups(void)
{
    /* Two nodes of three slots, out of order, with a gap in the numbers. */
    static const size_t group[6] = {4, 1, 4, 1, 4, 1};
    static const double all_alike[6] = {1, 1, 1, 1, 1, 1};
    struct cost *c = cost_create(6, group);
    double fast;

    cost_expect_speeds(c, all_alike);
    for (int k = 0; k < 10; k++) {
        double units = 20 + 10 * (double)(k % 5);

        add(c, 0, units, 0.2 + 0.02 * units);
        add(c, 2, units, 0.2 + 0.02 * units);
        add(c, 1, units, 0.2 + 0.06 * units);
        cost_fit(c);
    }
    fast = cost_speed(c, 0);
    is_near(cost_speed(c, 2), fast, 0.01, "two slots that are alike");
    is_near(cost_speed(c, 4), fast, 0.05, "the third learns from them");
    is_near(cost_speed(c, 1), fast / 3, 0.05, "a slow node");
    is_near(cost_speed(c, 3), fast / 3, 0.05, "its slots are slow, too");
    is_near(cost_speed(c, 5), fast / 3, 0.05, "all of them");
    ok(is_sound(c, 6), "and all is in order");
    for (int k = 0; k < 10; k++) {
        double units = 20 + 10 * (double)(k % 5);

        add(c, 4, units, 0.2 + 0.04 * units);
        cost_fit(c);
    }
    is_near(cost_speed(c, 4), cost_speed(c, 0) / 2, 0.06,
            "a slot that is slower has a speed of its own");
    cost_destroy(c);
}

/* --- what is out of line -------------------------------------------------- */

static void test_outliers(void)
{
    struct world w = world_of(0.3, 0, 0.02, 0.02);
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    for (int f = 0; f < 8; f++) {
        add(c, (size_t)f % NODES, 60, 30);
        frame(c, &w);
    }
    is_near(cost_terms(c).wait, 0.3, 0.04, "some that hang change no wait");
    is_near(cost_terms(c).each, 0.02, 0.001, "nor what a unit takes");
    is_near(cost_speed(c, 0), 1.6, 0.06, "nor a speed");
    ok(cost_noise(c) < 0.08, "nor the noise");
    cost_destroy(c);
}

static void test_noise(double noise)
{
    struct world w = world_of(0.1, 0, 0.02, noise);
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    for (int f = 0; f < 10; f++)
        frame(c, &w);
    ok(cost_noise(c) > 0.6 * noise && cost_noise(c) < 1.6 * noise + 0.01,
       "a noise of %g is told as %g", noise, cost_noise(c));
    cost_destroy(c);
}

/* --- what changes --------------------------------------------------------- */

static struct cost *learned(struct world *w)
{
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    for (int f = 0; f < 8; f++)
        frame(c, w);
    return c;
}

static void test_all_change(double wait, double each, double noise)
{
    struct world w = world_of(0.1, 0, 0.02, noise);
    struct cost *c = learned(&w);
    double near = 0.05 + 2 * noise;

    w.terms = (struct cost_terms){.wait = wait, .each = each};
    frame(c, &w);
    frame(c, &w);
    is_near(cost_terms(c).wait, wait, near * (wait + 0.3), "what waits now");
    is_near(cost_terms(c).each, each, near * each, "what a unit takes now");
    for (size_t i = 0; i < NODES; i++)
        is_near(cost_speed(c, i), speeds[i], near * speeds[i],
                "the speeds are what they were");
    cost_destroy(c);
}

static void test_node_changes(double factor, double noise)
{
    struct world w = world_of(0.1, 0, 0.02, noise);
    struct cost *c = learned(&w);
    double ratio = cost_speed(c, 1) / cost_speed(c, 0), now, half;

    w.speed[1] *= factor;
    add(c, 1, 60, seconds_of(&w, 1, 60));
    cost_fit(c);
    half = cost_speed(c, 1) / cost_speed(c, 0) / ratio;
    if (factor < 1)
        ok(half < 0.5 + 0.5 * factor, "one that is late is doubted at once");
    else
        ok(half < 1.1, "one that is early may be luck");
    add(c, 1, 70, seconds_of(&w, 1, 70));
    cost_fit(c);
    now = cost_speed(c, 1) / cost_speed(c, 0) / ratio;
    is_near(now, factor, (0.03 + 2 * noise) * factor,
            "two in a row are believed");
    is_near(cost_terms(c).wait, 0.1, 0.05, "and are no start's fault");
    cost_destroy(c);
}

/* However noisy it is, and far from what was told. */
static void test_far_change(double factor)
{
    double off = 0;

    for (uint64_t seed = 0; seed < 20; seed++) {
        struct world w = world_of(0.1, 0, 0.02, 0.15);
        struct cost *c;
        double ratio;

        random_init(&w.random, GENERATOR_LCG32, seed);
        c = learned(&w);
        ratio = cost_speed(c, 1) / cost_speed(c, 0);
        w.speed[1] *= factor;
        for (int k = 0; k < 2; k++) {
            add(c, 1, 60, seconds_of(&w, 1, 60));
            cost_fit(c);
        }
        off += log(cost_speed(c, 1) / cost_speed(c, 0) / ratio / factor) / 20;
        cost_destroy(c);
    }
    is_near(off, 0, 0.12, "two in a row say how far, on average");
}

/* A single late piece is forgiven as soon as the next is in time. */
static void test_forgiven(void)
{
    struct world w = world_of(0.1, 0, 0.02, 0.02);
    struct cost *c = learned(&w);

    add(c, 1, 60, 4 * seconds_of(&w, 1, 60));
    cost_fit(c);
    add(c, 1, 60, seconds_of(&w, 1, 60));
    cost_fit(c);
    is_near(cost_speed(c, 1), 1.2, 0.04, "it was a hiccup");
    cost_destroy(c);
}

/* Pieces of one size do not make it forget what unlike ones have told. */
static void test_one_size(void)
{
    struct world w = world_of(0.6, 0, 0.02, 0.02);
    struct cost *c = learned(&w);

    for (int f = 0; f < 30; f++) {
        for (size_t i = 0; i < NODES; i++)
            add(c, i, 100 * speeds[i], seconds_of(&w, i, 100 * speeds[i]));
        cost_fit(c);
    }
    is_near(cost_terms(c).wait, 0.6, 0.12, "what waits is still known");
    cost_destroy(c);
}

/* Where all sizes say the same nothing is made up: units are all there is. */
static void test_not_told_apart(void)
{
    struct world w = world_of(0.6, 0, 0.02, 0);
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    for (size_t i = 0; i < NODES; i++)
        add(c, i, 100 * speeds[i], seconds_of(&w, i, 100 * speeds[i]));
    cost_fit(c);
    is_near(cost_terms(c).wait, 0, 0, "no wait");
    is_near(cost_terms(c).burn, 0, 0, "nothing is burnt");
    is_near(cost_terms(c).each, 0.026, 1e-6, "units take it all");
    cost_destroy(c);
}

/* One that has had nothing for long is as it was told. */
static void test_stale(void)
{
    struct world w = world_of(0.1, 0, 0.02, 0);
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    w.speed[0] = 0.4;
    for (int f = 0; f < 4; f++)
        frame(c, &w);
    is_near(cost_speed(c, 0), 0.4 / 0.7, 0.03, "a node is slower than told");
    for (int k = 0; k < 100 * NODES; k++) {
        size_t i = 1 + (size_t)k % (NODES - 1);

        add(c, i, 50 + 5 * (double)(k % 7),
            seconds_of(&w, i, 50 + 5 * (double)(k % 7)));
        cost_fit(c);
    }
    is_near(cost_speed(c, 0), 1.6, 0.05, "for as long as anybody remembers");
    cost_destroy(c);
}

/* --- anything ------------------------------------------------------------- */

static double any(struct rng *r)
{
    static const double odd[] = {0, 1e-9, 1e9, (double)NAN, (double)INFINITY,
                                 -1};

    return random_below(r, 20) == 0 ? odd[random_below(r, 6)]
                                    : exp(4 * random_normal(r));
}

static void test_anything(void)
{
    enum { MOST = 9 };
    struct rng r;
    int sound = 1;

    random_init(&r, GENERATOR_LCG32, 3);
    for (int round = 0; round < 150; round++) {
        size_t nodes = 1 + (size_t)random_below(&r, MOST), group[MOST];
        struct cost *c;

        for (size_t i = 0; i < nodes; i++)
            group[i] = (size_t)random_below(&r, (int32_t)nodes);
        c = cost_create(nodes, random_boolean(&r) ? group : NULL);
        for (int k = 0; k < 60; k++) {
            size_t node = (size_t)random_below(&r, (int32_t)nodes);
            struct cost_terms t = {any(&r), any(&r), any(&r)};
            struct cost_scaling scaling;
            double speed[MOST];

            add(c, node, any(&r), any(&r));
            for (size_t i = 0; i < nodes; i++)
                speed[i] = any(&r);
            if (random_below(&r, 20) == 0)
                cost_expect_speeds(c, speed);
            if (random_below(&r, 20) == 0)
                cost_expect(c, &t, any(&r));
            if (random_below(&r, 20) == 0)
                cost_expect_scaling(
                    c, &(struct cost_scaling){any(&r), any(&r), any(&r)});
            if (random_below(&r, 3) == 0)
                cost_fit(c);
            if (random_below(&r, 20) == 0)
                cost_settle(c);
            scaling = cost_scaling(c);
            sound &= is_sound(c, nodes)
                     && (scaling.exponent == 0 || cost_scaling_holds(&scaling));
        }
        cost_destroy(c);
    }
    ok(sound, "whatever it hears, what it says is sound");
}

/* Slots of as many nodes as there ever are. */
static void test_many(void)
{
    enum { MANY = 16384, SLOTS = 16 };
    static size_t group[MANY];
    struct cost *c;
    double began;
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 5);
    for (size_t i = 0; i < MANY; i++)
        group[i] = i / SLOTS;
    c = cost_create(MANY, group);
    for (int k = 0; k < 12; k++)
        for (size_t i = 0; i < MANY; i++) {
            double units = 50 + 50 * random_unit(&r);

            add(c, i, units,
                0.5 + 0.02 * units * exp(0.05 * random_normal(&r)));
        }
    began = cpu_seconds();
    cost_fit(c);
    costs(cpu_seconds() - began, 0.015, "a fit of 16,384 slots");
    is_near(cost_terms(c).wait + cost_terms(c).burn, 0.5, 0.05,
            "which is a good one, though among equals a start is a start");
    is_near(cost_terms(c).each, 0.02, 0.001, "in all terms");
    cost_destroy(c);
}

/* Parts of as many units each. */
static void test_split(void)
{
    struct cost *c = cost_create(NODES, NULL);
    double speed[NODES] = {0}, part[NODES], sum = 0;

    speed[0] = 2;
    speed[NODES - 1] = 1;
    cost_split(c, speed, part);
    is_near(part[0], 0.5, 1e-12, "two take part: half of the work");
    is_near(part[1], 0, 0, "nothing for one that does not");
    for (int f = 0; f < 4; f++)
        for (size_t i = 0; i < 4; i++) {
            double from = 0.25 * (double)((i + (size_t)f) % 4);
            struct cost_part p = {100, from, from + 0.25};

            cost_add(c, i % NODES, &p,
                     &(struct cost_run){.seconds = from < 0.5 ? 3 : 1});
        }
    cost_fit(c);
    cost_split(c, speed, part);
    for (size_t i = 0; i < NODES; i++)
        sum += part[i];
    is_near(sum, 1, 1e-9, "all of it");
    is_near(part[0], 0.75, 0.05, "units of the first half are dearer");
    cost_destroy(c);
}

/* A frame of four pieces a node, of which units of the first half take `dear` times
 * as long. */
static void steep(struct cost *c, double dear)
{
    cost_begin(c, 0, 1600);
    for (int k = 0; k < 16; k++) {
        int node = k % NODES, turn = k / NODES, half = (node + turn) % 2;
        double begin = (8 * half + 2 * node + turn / 2) / 16.0;

        cost_add(c, (size_t)node,
                 &(struct cost_part){100, begin, begin + 1 / 16.0},
                 &(struct cost_run){.seconds = half == 0 ? dear : 1});
    }
    cost_fit(c);
}

/* The part of a new run's work that its first half is taken to be, in frames of so
 * many units. */
static double half_of(struct cost *c,
                      const struct cost_profile *p,
                      double units)
{
    double speed[NODES] = {1, 1}, part[NODES];

    cost_expect(c, &(struct cost_terms){.each = 0.01}, 0.02);
    cost_expect_profile(c, p);
    cost_begin(c, 0, units);
    cost_split(c, speed, part);
    return part[0];
}

static void test_profile(void)
{
    struct cost *first = cost_create(NODES, NULL);
    struct cost *next = cost_create(NODES, NULL);
    struct cost *other = cost_create(NODES, NULL);
    struct cost *change = cost_create(NODES, NULL);
    struct cost_profile p = cost_profile(first), again;
    double speed[NODES] = {1, 1}, part[NODES];

    is_near(p.units, 0, 0, "of nothing there is no profile");
    steep(first, 3);
    p = cost_profile(first);
    is_near(p.units, 1600, 0, "it is of frames of so many units");
    is_int((intmax_t)p.n, 16, "by all pieces");
    is_near(half_of(next, &p, 1600), 0.75, 0.03, "the next run knows it");
    again = cost_profile(next);
    ok(again.n == 16 && again.seen[3].deviation > p.seen[3].deviation,
       "one without a piece passes it on, less sure");
    is_near(half_of(other, &p, 1601), 0.5, 0, "but not in frames of others");
    half_of(change, &p, 1600);
    for (int f = 0; f < 2; f++)
        steep(change, 0.5);
    cost_split(change, speed, part);
    is_near(part[0], 1 / 3.0, 0.05, "pieces that say otherwise count for more");
    cost_destroy(first);
    cost_destroy(next);
    cost_destroy(other);
    cost_destroy(change);
}

/* Of pieces of many nodes there are as many as there is room for, from all over. */
static void test_profile_of(size_t nodes, size_t pieces)
{
    struct cost *c = cost_create(nodes, NULL);
    double least = 1, most = 0;
    struct cost_profile p;

    cost_begin(c, 0, 1000);
    for (size_t k = 0; k < pieces; k++) {
        size_t turn = k / nodes, slice = (k + turn * (nodes / 2)) % nodes;
        size_t place = slice * (pieces / nodes) + turn;
        double begin = (double)place / (double)pieces;
        struct cost_part part = {1000 / (double)pieces, begin,
                                 begin + 1 / (double)pieces};

        cost_add(c, k % nodes, &part,
                 &(struct cost_run){.seconds = begin < 0.5 ? 3 : 1});
    }
    cost_add(c, 0, &(struct cost_part){5, 0.1, 0.2},
             &(struct cost_run){.seconds = 1}); /* of a small frame */
    cost_fit(c);
    p = cost_profile(c);
    for (size_t i = 0; i < p.n; i++) {
        least = fmin(least, p.seen[i].begin);
        most = fmax(most, p.seen[i].end);
        if (p.seen[i].end - p.seen[i].begin > 1.5 / (double)pieces)
            most = 2;
    }
    ok(p.n > COST_PROFILE / 2 && p.n <= COST_PROFILE && least < 0.25
           && most > 0.75 && most < 1.001,
       "%zu of %zu pieces, from %g to %g", p.n, pieces, least, most);
    cost_destroy(c);
}

/* The same line with another input: nodes that are too few to say that all has
 * changed. */
static void test_profile_wrong(size_t nodes, double noise)
{
    struct cost *c = cost_create(nodes, NULL);
    struct cost_profile p = {.units = 1600, .n = 16};
    double speed[NODES] = {1, 1}, part[NODES];
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 9);
    for (size_t i = 0; i < p.n; i++)
        p.seen[i] = (struct density_seen){(double)i / 16, (double)(i + 1) / 16,
                                          i < 8 ? 1.5 : 0.5, 0.02};
    (void)half_of(c, &p, 1600);
    for (int k = 0; k < 16; k++) {
        double begin = (k % 2 * 8 + k / 2) / 16.0;
        struct cost_part is = {100, begin, begin + 1 / 16.0};

        cost_add(
            c, (size_t)k / 2 % nodes, &is,
            &(struct cost_run){.seconds = (k % 2 ? 1.5 : 0.5)
                                          * exp(noise * random_normal(&r))});
        if (k % 4 == 3)
            cost_fit(c);
    }
    cost_split(c, speed, part);
    ok(part[0] < 0.35, "%zu nodes, noise %g: pieces say otherwise: %.3f", nodes,
       noise, part[0]);
    cost_destroy(c);
}

/* Units cost what nobody can guess, in a command of which nothing is known: by
 * wall time a piece of dear ones may as well have a long start.  How far the told
 * wait is off. */
static double wait_off(int with_cpu, struct rng *random)
{
    const double wait = 0.6, each = 0.02;
    struct cost *c = cost_create(NODES, NULL);
    double off;

    cost_expect_speeds(c, speeds);
    for (size_t i = 0; i < 2 * NODES; i++) {
        double from = (double)(i * i) / (4 * NODES * NODES);
        double to = (double)((i + 1) * (i + 1)) / (4 * NODES * NODES);
        struct cost_part part = {1000 * (to - from), from, to};
        double work = each * part.units * exp(0.4 * random_normal(random));

        cost_add(c, i % NODES, &part,
                 &(struct cost_run){.seconds = wait + work / speeds[i % NODES],
                                    .cpu = with_cpu ? work / 2 : 0});
    }
    cost_fit(c);
    off = fabs(cost_terms(c).wait - wait);
    cost_destroy(c);
    return off;
}

static void test_cpu(void)
{
    double with = 0, without = 0;
    struct rng random;

    random_init(&random, GENERATOR_LCG32, 21);
    for (int i = 0; i < 20; i++)
        with += wait_off(1, &random) / 20;
    random_init(&random, GENERATOR_LCG32, 21);
    for (int i = 0; i < 20; i++)
        without += wait_off(0, &random) / 20;
    ok(with < 0.12 && with < without / 2,
       "CPU time tells a start from dear units: off by %.3f s, without %.3f",
       with, without);
}

static double alone(const struct cost *c,
                    double seconds,
                    double cpu,
                    double beside)
{
    return cost_alone(c, 1, &(struct cost_run){seconds, cpu, beside});
}

/* Two pieces at once on a node take longer than each would alone. */
static void test_beside(void)
{
    struct world w = world_of(0.6, 0, 0.02, 0);
    struct cost *c = cost_create(NODES, NULL);
    double is;

    cost_expect_speeds(c, speeds);
    is_near(alone(c, 3, 1, 1), 3, 0, "nothing is known of any");
    for (size_t i = 0; i < 4 * NODES; i++) {
        double work = 0.5 + (double)i;
        struct cost_run run = {0.6 + work / w.speed[i % NODES], work / 2, 0};

        if (i < NODES) { /* the first of each had half of its node for 1 s */
            run.beside = 1;
            run.seconds += 0.5;
        }
        cost_add(c, i % NODES, &(struct cost_part){.units = 50 * work}, &run);
    }
    cost_fit(c);
    is_near(cost_terms(c).wait, 0.6, 0.1,
            "those that are alone tell the start");
    is_near(cost_seconds(c, 1, 50), 0.6 + 1 / 1.2, 0.1, "and what units take");
    is = alone(c, 10, 1, 9);
    is_near(is, 0.6 + 2 / 1.2, 0.1, "what it takes by its CPU time");
    is_near(alone(c, is + 0.5, 1, 0), is + 0.5, 0,
            "one that was alone took what it took");
    is_near(alone(c, is + 0.5, 1, 0.2), is + 0.3, 1e-9,
            "and one that was not for long is no faster than that");
    is_near(alone(c, is - 0.5, 1, 9), is - 0.5, 0, "nor slower than it was");
    is_near(alone(c, 10, 0, 9), 10, 0, "without CPU time nobody knows");
    cost_destroy(c);
}

/* A node that another job has half of, from its last piece on. */
static void test_cpu_halved(void)
{
    struct world w = world_of(0.6, 0, 0.02, 0.02);
    struct cost *c = cost_create(NODES, NULL);

    cost_expect_speeds(c, speeds);
    for (int f = 0; f < 3; f++) {
        for (size_t i = 0; i < NODES; i++) {
            double units = 100 * w.speed[i] * (f == 1 ? 0.3 : 1);
            double seconds = seconds_of(&w, i, units);

            cost_add(c, i, &(struct cost_part){.units = units},
                     &(struct cost_run){.seconds = seconds,
                                        .cpu = (seconds - w.terms.wait)
                                               * w.speed[i] / 2});
        }
        cost_fit(c);
    }
    is_near(cost_speed(c, 1), 1.2, 0.06, "a node has its speed");
    w.speed[1] /= 2;
    cost_add(c, 1, &(struct cost_part){.units = 60},
             &(struct cost_run){.seconds = seconds_of(&w, 1, 60),
                                .cpu = 60 * w.terms.each / 2});
    cost_fit(c);
    ok(cost_speed(c, 1) / cost_speed(c, 0) < 0.6 / 1.6 * 1.25,
       "one that is halved is known by its first piece: %.3f",
       cost_speed(c, 1) / cost_speed(c, 0));
    cost_destroy(c);
}

int main(void)
{
    test_terms(0, 0, 0);
    test_terms(0.6, 0, 0);
    test_terms(0, 0.1, 0);
    test_terms(0.3, 0.3, 0);
    test_terms(0.6, 0, 0.02);
    test_units(1000, 1, 1);
    test_units(1, 1e-6, 1);
    test_units(1, 1, 1e5);
    test_units(1e-3, 1e9, 1e-3);
    test_nonsense();
    test_expected();
    test_wrong(0, 0.2);
    test_wrong(3, 0.02);
    test_wrong(0.1, 0.002);
    test_right();
    test_told_again();
    test_told_late();
    test_groups();
    test_outliers();
    test_noise(0.02);
    test_noise(0.1);
    test_noise(0.3);
    test_all_change(1, 0.02, 0);
    test_all_change(1, 0.02, 0.05);
    test_all_change(0.1, 0.06, 0.02);
    test_all_change(0.01, 0.002, 0.02);
    test_node_changes(0.5, 0);
    test_node_changes(0.5, 0.05);
    test_node_changes(2, 0.02);
    test_far_change(0.1);
    test_forgiven();
    test_one_size();
    test_not_told_apart();
    test_stale();
    test_anything();
    test_many();
    test_split();
    test_profile();
    test_profile_of(4, 24);
    test_profile_of(13, 65);
    test_profile_of(13, 130);
    test_profile_of(125, 1000);
    test_profile_wrong(2, 0.02);
    test_profile_wrong(2, 0.2);
    test_profile_wrong(4, 0.02);
    test_cpu();
    test_cpu_halved();
    test_beside();
    return done();
}
