/* SPDX-License-Identifier: BSD-2-Clause */
/* The balancing step on tables of numbers, and that it settles. */
#include "policy/power.h"
#include "fenced.h"
#include "policy/aggregate.h"
#include "policy/power_simulation.h"
#include "tap.h"

#define MAX 64

static struct power_node node[MAX];
static double room[MAX * 4];
static const struct power_rule pairs = {POWER_PAIR, 0, 0, 1};
static const struct power_rule boost = {POWER_BOOST, 0, 0, 1};

/* n nodes of these progresses, each with a limit of 1000 in [100, 4000]. */
static void set(const double progress[], size_t n)
{
    if (sizeof room < power_bytes(MAX))
        bail("no room");
    for (size_t i = 0; i < n; i++)
        node[i] = (struct power_node){progress[i], 1000, 100, 4000};
}

static uint64_t sum(size_t n)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += node[i].limit;
    return all;
}

/* --- numbers for many ----------------------------------------------------- */

static void test_aggregates(void)
{
    const struct {
        const char *what;
        double value[5];
        size_t n;
        double want[AGGREGATES]; /* min mean median variance deviation skew */
    } rows[] = {
        {"none", {0}, 0, {0, 0, 0, 0, 0, 0}},
        {"one core", {0.5}, 1, {0.5, 0.5, 0.5, 0, 0, 0}},
        {"all equal", {0.3, 0.3, 0.3}, 3, {0.3, 0.3, 0.3, 0, 0, 0}},
        {"an odd count",
         {1, 3, 2},
         3,
         {1, 2, 2, 2.0 / 3, sqrt(2.0 / 3), 1.0 / 3}},
        {"an even count",
         {1, 2, 3, 6},
         4,
         {1, 3, 2.5, 3.5, sqrt(3.5), 3.5 / 3}},
        {"ties", {2, 2, 4, 4}, 4, {2, 3, 3, 1, 1, 1.0 / 3}},
        {"zero mean", {0, 0, 0}, 3, {0, 0, 0, 0, 0, 0}},
        {"one works, four do not",
         {0, 0, 0, 0, 1},
         5,
         {0, 0.2, 0, 0.16, 0.4, 0.8}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (enum aggregate how = AGGREGATE_MIN; how < AGGREGATES; how++) {
            double *value =
                fenced_copy(rows[i].value, rows[i].n * sizeof *value);
            char what[80];

            snprintf(what, sizeof what, "%s: %s", rows[i].what,
                     aggregate_name(how));
            is_near(aggregate_of(how, value, rows[i].n), rows[i].want[how],
                    1e-15, what);
            free(value);
        }
    for (enum aggregate how = AGGREGATE_MIN; how < AGGREGATES; how++)
        ok(aggregate_find(aggregate_name(how)) == how, "%s is found by name",
           aggregate_name(how));
    ok(aggregate_find("mode") == AGGREGATES, "an unknown name is none");
}

/* --- the rules, one by one ------------------------------------------------- */

static void test_skew(void)
{
    static const double one[] = {7}, four[] = {8, 8, 8, 5};
    static const double silent[] = {8, 0, 8, (double)NAN, 8, 5, -1};

    set(one, 1);
    is_near(power_skew(node, 1, room), 0, 0, "one node has no skew");
    is_near(power_skew(node, 0, room), 0, 0, "nor have none");
    set(four, 4);
    is_near(power_skew(node, 4, room), 0.0263671875 / 0.90625, 1e-15,
            "fractions 1, 1, 1, 5/8: variance 0.0264 / mean 0.906");
    set(silent, 7);
    is_near(power_skew(node, 7, room), 0.0263671875 / 0.90625, 1e-15,
            "nodes that do not report do not count");
}

/* A step of each variant on nodes of 1000 each. */
static const struct {
    const char *what;
    const struct power_rule *rule;
    size_t n;
    double progress[5];
    uint64_t want[5];
} steps[] = {
    {"one core", &pairs, 1, {3}, {1000}},
    {"all equal", &pairs, 4, {3, 3, 3, 3}, {1000, 1000, 1000, 1000}},
    {"zero mean: nobody reports", &pairs, 3, {0}, {1000, 1000, 1000}},
    {"one alone reports", &pairs, 3, {0, 2, 0}, {1000, 1000, 1000}},
    {"a pair", &pairs, 2, {3, 1}, {500, 1500}},
    {"the slower first", &pairs, 2, {1, 3}, {1500, 500}},
    {"odd: the median stays alone", &pairs, 3, {1, 2, 3}, {1500, 1000, 500}},
    {"fastest with slowest, second with second",
     &pairs,
     4,
     {3, 2, 1, 4},
     {800, 1200, 1600, 400}},
    {"ties", &pairs, 4, {1, 4, 4, 1}, {1600, 400, 400, 1600}},
    {"three ties and a slow one",
     &pairs,
     4,
     {8, 8, 8, 5},
     {770, 1000, 1000, 1230}},
    {"a node that is silent stays out of the pairing",
     &pairs,
     5,
     {3, 0, 2, 1, 4},
     {800, 1000, 1200, 1600, 400}},
    {"boost: one step, all come together",
     &boost,
     4,
     {8, 8, 8, 5},
     {870, 870, 870, 1390}},
    {"boost: those below the median give nothing",
     &boost,
     5,
     {10, 10, 8, 7, 5},
     {762, 762, 952, 1000, 1523}},
    {"boost: not even those that are faster than the mean",
     &boost,
     5,
     {10, 10, 8, 7.9, 1},
     {302, 302, 377, 1000, 3019}},
    {"boost: all equal", &boost, 3, {2, 2, 2}, {1000, 1000, 1000}},
    {"boost: one core", &boost, 1, {2}, {1000}},
    {"boost: the silent stays out", &boost, 3, {0, 3, 1}, {1000, 500, 1500}},
};

static void test_steps(void)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int wrong = 0;
        size_t changed;

        set(steps[i].progress, steps[i].n);
        changed = power_step(steps[i].rule, node, steps[i].n, room);
        for (size_t k = 0; k < steps[i].n; k++)
            changed -= node[k].limit != 1000;
        ok(changed == 0, "%s: it says how many have changed", steps[i].what);
        for (size_t k = 0; k < steps[i].n; k++)
            /* a step of whole numbers loses less than one a donor */
            wrong += node[k].limit > steps[i].want[k] + 2
                     || node[k].limit + 2 < steps[i].want[k];
        if (!ok(wrong == 0, "%s", steps[i].what))
            for (size_t k = 0; k < steps[i].n; k++)
                diag("node %zu: %ju", k, (uintmax_t)node[k].limit);
        ok(sum(steps[i].n) == 1000 * steps[i].n, "%s: the sum stays",
           steps[i].what);
    }
}

static void test_band_and_bound(void)
{
    static const double progress[] = {100, 103, 97, 100, 120, 60};
    struct power_rule rule = pairs;

    set(progress, 6);
    rule.bound = 1;
    is_int((int)power_step(&rule, node, 6, room), 0,
           "within the bound nothing changes");
    rule.bound = 0;
    rule.band = 0.05;
    is_int((int)power_step(&rule, node, 6, room), 2,
           "with a band only the pair outside of it is steered");
    ok(node[4].limit < 1000 && node[5].limit > 1000,
       "from the fastest to the slowest");
    set(progress, 6);
    rule.band = 0.01;
    is_int((int)power_step(&rule, node, 6, room), 4,
           "with a narrower one the next pair, too");
    is_int((int)node[0].limit, 1000, "the median stays as it is");
    set((const double[]){3, 1}, 2);
    rule.band = 0.5;
    is_int((int)power_step(&rule, node, 2, room), 0,
           "at the edge of the band is within");
    set(progress, 6);
    rule.variant = POWER_OFF;
    is_int((int)power_step(&rule, node, 6, room), 0, "off is off");
}

static void test_gain(void)
{
    static const double two[] = {3, 1};
    struct power_rule rule = pairs;

    rule.gain = 0.5;
    set(two, 2);
    power_step(&rule, node, 2, room);
    is_int((int)node[0].limit, 750, "half the gain goes half of the way");
    set((const double[]){2, 1}, 2);
    power_step(&pairs, node, 2, room);
    is_int((int)node[1].limit, 1333,
           "a smaller distance moves less: 1/3 and not 1/2");
}

/* Two that are as fast for their limits as each other: 3 and 1 become 2. */
static void test_one_step(void)
{
    node[0] = (struct power_node){3, 3, 1, 9};
    node[1] = (struct power_node){1, 1, 1, 9};
    is_int((int)power_step(&pairs, node, 2, room), 2,
           "the smallest step is worth while");
    ok(node[0].limit == 2 && node[1].limit == 2, "and brings them together");
}

static void test_floor_and_ceiling(void)
{
    static const double two[] = {100, 1}, four[] = {100, 90, 2, 1};

    set(two, 2);
    power_step(&pairs, node, 2, room);
    is_int((int)node[0].limit, 100, "a floor is kept");
    is_int((int)power_step(&pairs, node, 2, room), 0,
           "what stands on it gives nothing more");
    set(two, 2);
    node[1].ceiling = 1200;
    power_step(&pairs, node, 2, room);
    is_int((int)node[1].limit, 1200, "a ceiling is kept");
    is_int((int)node[0].limit, 800, "and not more is taken than it takes");
    set(four, 4);
    node[0].floor = 1000;
    node[3].ceiling = 1000;
    power_step(&pairs, node, 4, room);
    ok(node[1].limit < 1000 && node[2].limit > 1000 && node[0].limit == 1000,
       "who can neither give nor take leaves the pairing to the others");
    set(four, 4);
    node[3].ceiling = 1000;
    power_step(&boost, node, 4, room);
    ok(node[2].limit > 1000 && node[3].limit == 1000,
       "boost: if the slowest is at its ceiling the next is helped");
}

/* --- laws, over many random groups ---------------------------------------- */

static uint32_t lcg(uint32_t *x)
{
    return (*x = *x * 1664525u + 1013904223u) >> 8;
}

static void test_laws(void)
{
    uint32_t x = 1;
    int kept = 1, bounded = 1, silent = 1, right = 1, told = 1;

    for (int round = 0; round < 20000; round++) {
        struct power_rule rule = round % 2 ? pairs : boost;
        size_t n = lcg(&x) % MAX, changed;
        struct power_node before[MAX];

        rule.gain = (1 + lcg(&x) % 100) / 100.0;
        rule.band = lcg(&x) % 3 * 0.05;
        for (size_t i = 0; i < n; i++) {
            uint64_t floor = 1 + lcg(&x) % 1000;

            node[i].progress = lcg(&x) % 5 ? 1 + lcg(&x) % 100 : 0;
            node[i].floor = floor;
            node[i].limit = floor + lcg(&x) % 1000;
            node[i].ceiling = node[i].limit + lcg(&x) % 1000;
        }
        memcpy(before, node, sizeof before);
        changed = power_step(&rule, node, n, room);
        for (size_t i = 0; i < n; i++)
            changed -= node[i].limit != before[i].limit;
        told &= changed == 0;
        for (size_t i = 0; i < n; i++) {
            double slowest = 1e9, fastest = 0;

            for (size_t k = 0; k < n; k++)
                if (node[k].progress > 0) {
                    slowest = fmin(slowest, node[k].progress);
                    fastest = fmax(fastest, node[k].progress);
                }
            bounded &= node[i].limit >= node[i].floor
                       && node[i].limit <= node[i].ceiling;
            silent &= node[i].progress > 0 || node[i].limit == before[i].limit;
            right &=
                !(node[i].progress <= slowest && slowest < fastest
                  && node[i].progress > 0 && node[i].limit < before[i].limit);
        }
        uint64_t after = sum(n), was = 0;
        for (size_t i = 0; i < n; i++)
            was += before[i].limit;
        kept &= after == was;
    }
    ok(kept, "the sum is kept exactly, 20000 random groups");
    ok(bounded, "no floor or ceiling is broken");
    ok(silent, "no node that is silent gives or gets");
    ok(right, "nothing is taken from the slowest");
    ok(told, "it says how many limits have changed");
}

/* --- that it settles ------------------------------------------------------ */

struct course {
    double first, last; /* ideal of the first region and of the last */
    double waited_first, waited_last;
    size_t settled; /* regions until nothing changed any more; ~0: never */
    int kept, swung;
};

static struct course simulate(struct power_simulation_setup *s, size_t regions)
{
    size_t bytes = power_simulation_bytes(s->n);
    void *state = malloc(bytes);
    struct course c = {.settled = SIZE_MAX, .kept = 1};
    double best = 1e9;

    if (!state || power_simulation_init(state, s) < 0)
        bail("no simulation");
    for (size_t i = 0; i < regions; i++) {
        struct power_region r;
        uint64_t all = 0;

        power_simulation_next(state, &r);
        if (i == 0) {
            c.first = r.ideal;
            c.waited_first = r.waiting;
        }
        c.last = r.ideal;
        c.waited_last = r.waiting;
        if (r.changed)
            c.settled = SIZE_MAX;
        else if (c.settled == SIZE_MAX)
            c.settled = i;
        c.swung += r.ideal > best * (1.02 + 6 * s->noise);
        best = fmin(best, r.ideal);
        for (size_t k = 0; k < s->n; k++)
            all += power_simulation_limit(state, k);
        c.kept &= all == s->n * s->limit;
    }
    free(state);
    return c;
}

static struct power_simulation_setup four_nodes(const double work[])
{
    return (struct power_simulation_setup){
        .n = 4,
        .work = work,
        .limit = 400000,
        .floor = 80000,
        .ceiling = 800000,
        .exponent = 1,
        .rule = {POWER_PAIR, POWER_BOUND, POWER_BAND, POWER_GAIN},
        .seed = 1};
}

static void test_settles(void)
{
    static const double work[] = {1, 1, 1, 1.6};
    struct power_simulation_setup s = four_nodes(work);

    for (int variant = POWER_PAIR; variant <= POWER_BOOST; variant++)
        for (double exponent = 0.5; exponent <= 2; exponent *= 2) {
            const char *name = variant == POWER_PAIR ? "pair" : "boost";
            struct course c;

            s.rule.variant = (enum power_variant)variant;
            s.exponent = exponent;
            c = simulate(&s, 60);
            ok(c.first > 1.39 && c.last < 1.02,
               "%s, exponent %g: from %.3f to %.3f of the ideal", name,
               exponent, c.first, c.last);
            ok(c.settled <= (exponent < 1 ? 50 : 25),
               "it stands still after %zu regions", c.settled);
            ok(c.kept && c.swung == 0, "the sum is kept, it does not swing");
        }
    s = four_nodes(work);
    {
        struct course c = simulate(&s, 20);

        ok(c.settled <= 10 && c.waited_last < c.waited_first / 5,
           "in proportion: settled after %zu regions, waiting %.3f to %.3f",
           c.settled, c.waited_first, c.waited_last);
    }
    s.noise = 0.005;
    {
        struct course c = simulate(&s, 200);

        ok(c.last < 1.04 && c.swung == 0 && c.kept,
           "with 0.5 %% noise it stays there (%.3f)", c.last);
    }
}

static void test_many(void)
{
    enum { N = 1024 };
    static double work[N];
    struct power_simulation_setup s = four_nodes(work);
    uint32_t x = 7;
    struct course c;

    for (size_t i = 0; i < N; i++)
        work[i] = 1 + lcg(&x) % 1000 / 2000.0;
    s.n = N;
    c = simulate(&s, 60);
    ok(c.last < 1.05 && c.kept,
       "1024 nodes of work 1 to 1.5: from %.3f to %.3f of the ideal", c.first,
       c.last);
    ok(c.settled <= 40, "settled after %zu regions", c.settled);
}

/* At a limit of 1e6 the speed is 1: a region of 3 s, in which one waits 2. */
static void test_region(void)
{
    static const double work[] = {1, 3};
    struct power_simulation_setup s = {
        .n = 2,
        .work = work,
        .limit = 1000000,
        .floor = 1000000,
        .ceiling = 1000000,
        .exponent = 1,
        .rule = {POWER_PAIR, 0, 0, 1},
    };
    void *state = fenced(power_simulation_bytes(2));
    struct power_region r;

    if (power_simulation_init(state, &s) < 0)
        bail("no simulation");
    power_simulation_next(state, &r);
    is_near(r.seconds, 3, 1e-12, "the barrier falls with the last");
    is_near(r.waiting, 1 / 3.0, 1e-12, "a third of all time is waiting");
    is_near(r.ideal, 1.5, 1e-12, "half more than if all were alike");
    is_near(r.skew, (1 / 9.0) / (2 / 3.0), 1e-12, "fractions 1 and 1/3");
    is_int((long)r.changed, 0, "where no limit can move none does");
    free(state);
}

/* What is just allowed, and what is just not. */
static void test_setup_bounds(void)
{
    static const double work[] = {1, 1, 1, 1};
    const struct power_simulation_setup good = four_nodes(work);
    struct power_simulation_setup s[16];
    static const struct {
        const char *what;
        int taken;
    } want[16] = {
        {"a floor of 0", 0},
        {"a limit at the floor", 1},
        {"a limit at the ceiling", 1},
        {"one above it", 0},
        {"the highest ceiling", 1},
        {"one above it", 0},
        {"no noise", 1},
        {"less than none", 0},
        {"a bound of 0", 1},
        {"less than none", 0},
        {"a band of 0", 1},
        {"less than none", 0},
        {"a gain of 0", 0},
        {"a gain of 1", 1},
        {"a gain above 1", 0},
        {"an exponent that is no number", 0},
    };
    char *state = fenced(power_simulation_bytes(4));

    for (int i = 0; i < 16; i++)
        s[i] = good;
    s[0].floor = 0;
    s[1].limit = good.floor;
    s[2].limit = good.ceiling;
    s[3].limit = good.ceiling + 1;
    s[4].ceiling = POWER_LIMIT_MAX;
    s[5].ceiling = POWER_LIMIT_MAX + 1;
    s[6].noise = 0;
    s[7].noise = -1e-9;
    s[8].rule.bound = 0;
    s[9].rule.bound = -1e-9;
    s[10].rule.band = 0;
    s[11].rule.band = -1e-9;
    s[12].rule.gain = 0;
    s[13].rule.gain = 1;
    s[14].rule.gain = 1.001;
    s[15].exponent = (double)NAN;
    for (int i = 0; i < 16; i++)
        ok((power_simulation_init(state, &s[i]) == 0) == want[i].taken,
           "%s is %s", want[i].what, want[i].taken ? "taken" : "refused");
    free(state);
}

static void test_bad_setups(void)
{
    static const double work[] = {1, 1, 1, 1}, none[] = {1, 0, 1, 1};
    static char state[4096];
    struct power_simulation_setup s = four_nodes(none);

    ok(power_simulation_init(state, &s) < 0, "a node without work is refused");
    s = four_nodes(work);
    s.limit = 1;
    ok(power_simulation_init(state, &s) < 0, "a limit below the floor, too");
    s = four_nodes(work);
    s.exponent = 0;
    ok(power_simulation_init(state, &s) < 0, "and an exponent of 0");
    s = four_nodes(work);
    s.n = 0;
    ok(power_simulation_init(state, &s) < 0, "and no node");
    is_int((long)power_simulation_bytes(SIZE_MAX / 8), 0,
           "more nodes than memory has bytes are refused");
}

int main(void)
{
    test_aggregates();
    test_skew();
    test_steps();
    test_band_and_bound();
    test_gain();
    test_one_step();
    test_floor_and_ceiling();
    test_laws();
    test_settles();
    test_many();
    test_region();
    test_setup_bounds();
    test_bad_setups();
    return done();
}
