#include "policy/level.h"
#include "policy/random.h"
#include "tap.h"

#define NODES 12

struct case_ {
    double free[NODES], speed[NODES], units;
    struct cost_terms terms;
    size_t n;
};

static double uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * random_unit(r);
}

static struct case_ draw(struct rng *r)
{
    struct case_ c = {.n = (size_t)random_below(r, NODES) + 1};

    for (size_t i = 0; i < c.n; i++) {
        c.free[i] = random_below(r, 3) ? 0 : uniform(r, -5, 50);
        c.speed[i] = random_below(r, 4) ? uniform(r, 0.1, 3) : 0;
    }
    c.speed[random_below(r, (int32_t)c.n)] = uniform(r, 0.1, 3);
    c.terms.wait = random_boolean(r) ? uniform(r, 0, 10) : 0;
    c.terms.burn = random_boolean(r) ? uniform(r, 0, 10) : 0;
    c.terms.each = exp(uniform(r, -8, 3));
    c.units = exp(uniform(r, -5, 12));
    return c;
}

static double level_of(const struct case_ *c)
{
    return level_find(c->free, c->speed, c->n, &c->terms, c->units);
}

static double done_by(const struct case_ *c, double level)
{
    double sum = 0;

    for (size_t i = 0; i < c->n; i++)
        sum += level_part(level, c->free[i], c->speed[i], &c->terms);
    return sum;
}

/* What a part takes, by the definition, ends at the level. */
static double end_of(const struct case_ *c, size_t i, double part)
{
    return c->free[i] + c->terms.wait
           + (c->terms.burn + c->terms.each * part) / c->speed[i];
}

static void test_drawn(void)
{
    int adds_up = 1, ends = 1, is_least = 1;
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 7);
    for (int round = 0; round < 20000; round++) {
        struct case_ c = draw(&r);
        double level = level_of(&c);

        adds_up &= fabs(done_by(&c, level) - c.units) <= 1e-6 * c.units + 1e-7;
        is_least &= done_by(&c, level - 1e-6 * (1 + fabs(level))) < c.units;
        for (size_t i = 0; i < c.n; i++) {
            double part = level_part(level, c.free[i], c.speed[i], &c.terms);

            if (part > 0)
                ends &= fabs(end_of(&c, i, part) - level)
                        <= 1e-9 * (1 + fabs(level));
            else
                ends &= !(c.speed[i] > 0)
                        || end_of(&c, i, 0) >= level - 1e-9 * (1 + fabs(level));
        }
    }
    ok(adds_up, "the parts add up to the units");
    ok(is_least, "and a bit earlier they do not");
    ok(ends, "who has a part ends at the level, who has none would be late");
}

static void test_known(void)
{
    const struct cost_terms plain = {0, 0, 1}, start = {2, 1, 1};
    const double at_once[3] = {0, 0, 0}, speed[3] = {1, 2, 1};
    const double late[3] = {0, 100, (double)INFINITY};

    is_near(level_find(at_once, speed, 3, &plain, 40), 10, 1e-12,
            "by speed, where nothing is to be started");
    is_near(level_part(10, 0, 2, &plain), 20, 1e-12, "with parts by speed");
    is_near(level_find(at_once, speed, 3, &start, 40), 2 + 43. / 4, 1e-12,
            "with a start of each");
    is_near(level_find(late, speed, 3, &plain, 50), 50, 1e-12,
            "who is late, or never free, is waited for by nobody");
    is_near(level_find(late, speed, 2, &plain, 140), 100 + 40. / 3, 1e-12,
            "but takes part when there is more to do");
    is_near(level_part(50, 100, 2, &plain), 0, 0, "no part is negative");
    is_near(level_part(50, (double)INFINITY, 2, &plain), 0, 0,
            "nor has one who is never free any");
}

/* Starting points that grow geometrically leave only one by one. */
static void test_far_apart(void)
{
    static double free[1000], speed[1000];
    const struct cost_terms plain = {0, 0, 1};

    for (size_t i = 0; i < 1000; i++) {
        free[i] = ldexp(1, (int)i);
        speed[i] = i == 0 ? 1 : ldexp(1, -(int)i);
    }
    is_near(level_find(free, speed, 1000, &plain, 0.5), 1.5, 1e-12,
            "one is free long before all others");
}

int main(void)
{
    test_known();
    test_drawn();
    test_far_apart();
    return done();
}
