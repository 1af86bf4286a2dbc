/* SPDX-License-Identifier: BSD-2-Clause */
/* Power steered level by level: the laws, in random trees, and that it settles. */
#include "policy/power_levels.h"
#include "tap.h"

#define LEVELS 5
#define MAX    4096

static struct power_node node[LEVELS][MAX], before[LEVELS][MAX];
static uint32_t first[LEVELS][MAX + 1];
static uint64_t budget[LEVELS][MAX];
static struct power_level level[LEVELS];
static double room[MAX * 4];
static const struct power_rule pairs = {POWER_PAIR, 0, 0, 1};

static uint32_t lcg(uint32_t *x)
{
    return (*x = *x * 1664525u + 1013904223u) >> 8;
}

/* --- trees ---------------------------------------------------------------- */

/* n leaves in groups of so many at each level above, the last one smaller. */
static size_t grow(size_t n, const size_t group[], size_t levels)
{
    memset(budget, 0, sizeof budget);
    for (size_t k = 0; k < levels; k++) {
        size_t below = n;

        if (k > 0)
            n = (n + group[k - 1] - 1) / group[k - 1];
        for (size_t i = 0; k > 0 && i <= n; i++) {
            size_t at = i * group[k - 1];

            first[k][i] = (uint32_t)(at < below ? at : below);
        }
        level[k] = (struct power_level){.n = n,
                                        .node = node[k],
                                        .first = k > 0 ? first[k] : NULL,
                                        .budget = budget[k],
                                        .how = AGGREGATE_MEAN,
                                        .is_steered = 1};
    }
    if (power_levels_bytes(level, levels) > sizeof room)
        bail("no room");
    return levels;
}

static uint64_t leaves_of(size_t k, size_t i, int what, int *reports)
{
    uint64_t sum = 0;

    if (k == 0) {
        *reports |= node[0][i].progress > 0;
        return what == 'f'   ? node[0][i].floor
               : what == 'b' ? before[0][i].limit
                             : node[0][i].limit;
    }
    for (size_t j = first[k][i]; j < first[k][i + 1]; j++)
        sum += leaves_of(k - 1, j, what, reports);
    return sum;
}

static uint64_t limit_of(size_t k, size_t i)
{
    int reports = 0;

    return leaves_of(k, i, 'l', &reports);
}

static uint64_t limit_before(size_t k, size_t i)
{
    int reports = 0;

    return leaves_of(k, i, 'b', &reports);
}

static uint64_t floor_of(size_t k, size_t i)
{
    int reports = 0;

    return leaves_of(k, i, 'f', &reports);
}

static int is_heard(size_t k, size_t i)
{
    int reports = 0;

    leaves_of(k, i, 'l', &reports);
    return reports;
}

static uint64_t sum_of(size_t k)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < level[k].n; i++)
        sum += limit_of(k, i);
    return sum;
}

/* A random one: some leaves are silent, some groups, some have a budget that
 * leaves little room. */
static size_t random_tree(uint32_t *x)
{
    size_t levels = 1 + lcg(x) % LEVELS, group[LEVELS];

    for (size_t k = 0; k < LEVELS; k++)
        group[k] = 1 + lcg(x) % 7;
    grow(1 + lcg(x) % 300, group, levels);
    for (size_t i = 0; i < level[0].n; i++) {
        uint64_t least = 1 + lcg(x) % 1000;

        node[0][i] = (struct power_node){
            .progress = lcg(x) % 6 ? 1 + lcg(x) % 100 : 0,
            .floor = least,
            .limit = least + lcg(x) % 1000,
        };
        node[0][i].ceiling = node[0][i].limit + lcg(x) % 1000;
    }
    for (size_t k = 0; k < levels; k++) {
        level[k].is_steered = lcg(x) % 4 > 0;
        level[k].how = lcg(x) % 2 ? AGGREGATE_MIN : AGGREGATE_MEAN;
        for (size_t i = 0; k > 0 && i < level[k].n; i++)
            budget[k][i] = lcg(x) % 3 ? 0 : limit_of(k, i) + 1 + lcg(x) % 200;
    }
    return levels;
}

/* --- laws ----------------------------------------------------------------- */

struct laws {
    int sum, bounds, budgets, silent, told, unsteered;
};

/* A group keeps its sum if nothing is steered above its members. */
static int keeps_sums(size_t k, size_t levels)
{
    for (size_t j = k; j < levels; j++)
        if (level[j].is_steered)
            return 1;
    for (size_t i = 0; i < level[k].n; i++)
        if (limit_of(k, i) != limit_before(k, i))
            return 0;
    return 1;
}

static void check(struct laws *l, size_t levels, uint64_t was, size_t changed)
{
    l->sum &= sum_of(0) == was && sum_of(levels - 1) == was;
    for (size_t i = 0; i < level[0].n; i++) {
        const struct power_node *p = &node[0][i];

        l->bounds &= p->floor <= p->limit && p->limit <= p->ceiling;
        l->silent &= p->progress > 0 || p->limit == before[0][i].limit;
        l->told &= changed > 0 || p->limit == before[0][i].limit;
    }
    for (size_t k = 0; k < levels; k++) {
        l->unsteered &= keeps_sums(k, levels);
        for (size_t i = 0; k > 0 && i < level[k].n; i++) {
            l->budgets &= budget[k][i] == 0 || limit_of(k, i) <= budget[k][i];
            l->silent &= is_heard(k, i) || limit_of(k, i) == limit_before(k, i);
        }
    }
}

static void test_laws(void)
{
    struct laws l = {1, 1, 1, 1, 1, 1};
    size_t trees = 3000, moved = 0;
    uint32_t x = 1;

    for (size_t t = 0; t < trees; t++) {
        size_t levels = random_tree(&x), changed;
        struct power_rule rule = pairs;
        uint64_t was = sum_of(0);

        rule.variant = lcg(&x) % 2 ? POWER_PAIR : POWER_BOOST;
        rule.gain = (1 + lcg(&x) % 100) / 100.0;
        memcpy(before, node, sizeof before);
        changed = power_levels_step(&rule, level, levels, room);
        moved += changed > 0;
        check(&l, levels, was, changed);
    }
    ok(moved > trees / 2, "%zu of %zu random trees are steered", moved, trees);
    ok(l.sum, "the sum is kept exactly");
    ok(l.unsteered, "in each group, too, above which nothing is steered");
    ok(l.bounds, "floors and ceilings are");
    ok(l.budgets, "budgets are");
    ok(l.silent, "who does not report keeps what he has, groups as well");
    ok(l.told, "it says so if nothing has changed");
}

/* --- one rule at a time --------------------------------------------------- */

/* n leaves, each with a limit of 1000 in [100, 4000], two levels. */
static void set(const double progress[], size_t n, size_t group)
{
    grow(n, &group, 2);
    for (size_t i = 0; i < n; i++)
        node[0][i] = (struct power_node){progress[i], 1000, 100, 4000};
}

static void is_limit(size_t i, uint64_t want, const char *what)
{
    uint64_t got = node[0][i].limit;

    /* a step of whole numbers loses less than one a member */
    if (!ok(got <= want + 2 && got + 2 >= want, "%s", what))
        diag("leaf %zu: %ju", i, (uintmax_t)got);
}

static void test_groups_first(void)
{
    static const double racks[] = {3, 3, 1, 1};

    set(racks, 4, 2);
    is_int((int)power_levels_step(&pairs, level, 2, room), 2,
           "two racks, each even within: one pair of racks");
    is_limit(0, 500, "the fast rack's give");
    is_limit(1, 500, "each of them");
    is_limit(2, 1500, "and the slow rack's get");
    is_limit(3, 1500, "each of them");
    ok(fabs(node[0][0].progress - 1.5) < 0.01
           && fabs(node[0][3].progress - 1.5) < 0.01,
       "what each is expected to make comes together");
}

static void test_within(void)
{
    /* needs 1/3 + 1 and 1 + 1/3: alike as a mean */
    static const double alike[] = {3, 1, 1, 3};
    static const double wild[] = {8, 8, 8, 2, 8, 8, 8, 8};

    set(alike, 4, 2);
    power_levels_step(&pairs, level, 2, room);
    is_limit(0, 500, "racks that are alike as a mean: steered within");
    is_limit(1, 1500, "from the fast to the slow");
    is_limit(2, 1500, "in each");
    set(wild, 8, 4);
    power_levels_step(&pairs, level, 2, room);
    is_int((int)(limit_of(1, 0) / 10), 509,
           "the mean: a rack with one slow node gets what that one needs, "
           "4000 * 2 * 7 / 11");
    level[1].how = AGGREGATE_MIN;
    set(wild, 8, 4);
    level[1].how = AGGREGATE_MIN;
    level[0].is_steered = 0;
    power_levels_step(&pairs, level, 2, room);
    is_int((int)(limit_of(1, 0) / 10), 640,
           "the slowest: if nothing is steered within, all must get it");
    ok(node[0][0].limit == node[0][3].limit, "and all get the same");
}

static void test_rooms(void)
{
    static const double racks[] = {3, 3, 1, 1};

    set(racks, 4, 2);
    node[0][2].ceiling = 1100;
    power_levels_step(&pairs, level, 2, room);
    is_limit(2, 1100, "a ceiling in a rack that gets is kept");
    is_limit(3, 1900, "the others there get the rest");
    set(racks, 4, 2);
    budget[1][1] = 2400;
    power_levels_step(&pairs, level, 2, room);
    is_int((int)limit_of(1, 1), 2400, "a budget is the most of a rack");
    is_int((int)limit_of(1, 0), 1600, "no more is taken from the other");
    set((const double[]){3, 3, 1, 0}, 4, 2);
    budget[1][1] = 2400;
    power_levels_step(&pairs, level, 2, room);
    is_limit(2, 1400, "of a budget the silent have what they have");
    is_int((int)node[0][3].limit, 1000, "and keep it");
    set(racks, 4, 2);
    budget[1][1] = 1500;
    power_levels_step(&pairs, level, 2, room);
    is_int((int)limit_of(1, 1), 2000, "a rack above its budget gets nothing");
}

static void test_flat(void)
{
    static const double flat[] = {3, 2, 1, 4};

    set(flat, 4, 2);
    power_levels_step(&pairs, level, 1, room);
    memcpy(before, node, sizeof before);
    set(flat, 4, 2);
    power_step(&pairs, node[0], 4, room);
    ok(memcmp(before[0], node[0], 4 * sizeof node[0][0]) == 0,
       "one level alone is the step of power.h");
    set(flat, 4, 2);
    level[0].is_steered = level[1].is_steered = 0;
    is_int((int)power_levels_step(&pairs, level, 2, room), 0,
           "where nothing is steered nothing changes");
    set((const double[]){0, 0, 0, 0}, 4, 2);
    is_int((int)power_levels_step(&pairs, level, 2, room), 0,
           "nor where nobody reports");
}

/* --- budgets at the start ------------------------------------------------- */

static void test_fit(void)
{
    uint32_t x = 7;
    int kept = 1, floors = 1, only = 1, counted = 1;

    for (int t = 0; t < 2000; t++) {
        size_t levels = random_tree(&x), above = 0, want = 0;
        int lowered = 0, needed = 0;

        for (size_t k = 1; k < levels; k++)
            for (size_t i = 0; i < level[k].n; i++)
                if (budget[k][i])
                    budget[k][i] = 1 + lcg(&x) % (2 * (1 + limit_of(k, i)));
        memcpy(before, node, sizeof before);
        above = power_levels_fit(level, levels);
        for (size_t k = 1; k < levels; k++)
            for (size_t i = 0; i < level[k].n; i++) {
                uint64_t b = budget[k][i];

                want += b > 0 && floor_of(k, i) > b;
                kept &= b == 0 || limit_of(k, i) <= b
                        || limit_of(k, i) == floor_of(k, i);
                needed |= b > 0 && limit_before(k, i) > b;
            }
        for (size_t i = 0; i < level[0].n; i++) {
            floors &= node[0][i].limit >= node[0][i].floor
                      && node[0][i].limit <= before[0][i].limit;
            lowered |= node[0][i].limit < before[0][i].limit;
        }
        only &= needed || !lowered;
        counted &= above == want;
    }
    ok(kept, "limits are lowered until every budget holds, 2000 random trees");
    ok(floors, "but not below floors, and none goes up");
    ok(only, "none at all if all budgets hold");
    ok(counted, "budgets below the floors are counted");
    set((const double[]){0, 0, 0, 0}, 4, 2);
    budget[1][0] = 1000;
    is_int((int)power_levels_fit(level, 2), 0, "before anybody reports");
    is_int((int)node[0][1].limit, 500, "each in proportion");
    is_int((int)node[0][2].limit, 1000, "a rack without a budget keeps all");
}

/* --- that it settles ------------------------------------------------------ */

/* Cores of four levels, none alike; time / balanced ideal after some steps. */
static double settle(double exponent, enum power_variant variant, int *kept)
{
    static const size_t group[] = {8, 2, 8};
    const struct power_rule rule = {variant, POWER_BOUND, POWER_BAND,
                                    POWER_GAIN};
    static double work[1024];
    size_t levels = grow(1024, group, 4), n = level[0].n;
    double last = 0, works = 0, speeds = 0;
    uint32_t x = 3;

    for (size_t i = 0; i < n; i++) {
        work[i] = 1 + 0.3 * (i / 16 % 4 == 3) + 0.2 * (i / 128 % 3 == 0)
                  + lcg(&x) % 100 / 500.0;
        node[0][i] = (struct power_node){0, 400000, 80000, 1000000};
    }
    for (int region = 0; region < 60; region++) {
        last = works = speeds = 0;
        for (size_t i = 0; i < n; i++) {
            double speed = pow((double)node[0][i].limit / 1e6, exponent);

            node[0][i].progress = speed / work[i];
            last = fmax(last, work[i] / speed);
            works += work[i];
            speeds += speed;
        }
        power_levels_step(&rule, level, levels, room);
    }
    *kept = sum_of(0) == n * 400000;
    return last / (works / speeds);
}

static void test_settles(void)
{
    for (double exponent = 0.5; exponent <= 2; exponent *= 2) {
        int kept;
        double ideal = settle(exponent, POWER_PAIR, &kept);

        ok(ideal < 1.08, "pair, exponent %g: comes to %.3f of the ideal",
           exponent, ideal);
        ok(kept, "and has kept the sum");
    }
}

int main(void)
{
    test_laws();
    test_groups_first();
    test_within();
    test_rooms();
    test_flat();
    test_fit();
    test_settles();
    return done();
}
