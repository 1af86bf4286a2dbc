/* SPDX-License-Identifier: BSD-2-Clause */
/* A node's limit is divided over its parts to the last unit, within bounds. */
#include "policy/power_parts.h"
#include "tap.h"

#include <string.h>

#define MAX 64

static struct power_node node[MAX];
static double room[MAX * 4];

static uint64_t sum(size_t n)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += node[i].limit;
    return all;
}

static void test_validity(void)
{
    static const struct power_part bad[] = {
        {0, 10, 0}, {11, 10, 0}, {1, POWER_LIMIT_MAX + 1, 0}, {1, 10, 65537}};
    static const struct power_part good = {1, POWER_LIMIT_MAX, 65536};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(!power_part_is_valid(&bad[i]), "part %zu is refused", i);
    ok(power_part_is_valid(&good), "the largest is taken");
}

static void test_budget(void)
{
    static const struct power_part shared[] = {{1, 100, 0}, {1, 50, 0}};
    static const struct power_part cores[] = {{800, 6000, 2}, {800, 2000, 1}};
    static const struct power_part most = {1, POWER_LIMIT_MAX, 65536};

    ok(power_parts_budget(shared, 2, 120) == 120, "a limit that all share");
    ok(power_parts_budget(cores, 2, 1000) == 3000, "one for each core");
    ok(power_parts_budget(cores, 2, 2500) == 7000,
       "what a core cannot use is nobody's");
    ok(power_parts_budget(cores, 2, 100) == 1600, "nor what it always has");
    ok(power_parts_budget(&most, 1, POWER_LIMIT_MAX) == POWER_LIMIT_MAX,
       "the largest numbers");
    ok(power_parts_budget(shared, 0, 7) == 7, "no parts");
}

static void test_allowed(void)
{
    static const struct power_part part[] = {{10, 100, 0}, {10, 50, 0}};
    static const struct {
        const char *what;
        uint64_t wanted[2];
        int is_allowed;
    } rows[] = {{"to the last unit", {70, 50}, 1},
                {"one more", {71, 50}, 0},
                {"below the least", {70, 9}, 0},
                {"above the most", {60, 51}, 0},
                {"less than there is", {10, 10}, 1},
                {"a sum that wraps", {UINT64_MAX, 50}, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_int(power_parts_allowed(part, 2, 120, rows[i].wanted),
               rows[i].is_allowed, rows[i].what);
    ok(!power_parts_allowed(part, 0, 120, NULL), "no parts: nothing is");
}

static void test_divide(void)
{
    static const struct power_part part[] = {
        {1000, 8000, 0}, {1000, 8000, 0}, {1000, 4000, 0}};

    memset(node, 0, sizeof node);
    is_int(power_parts_bounds(part, 3, 10000, 0.2, node), 0, "three parts");
    ok(node[0].floor == 1000 && node[2].floor == 1000
           && node[2].ceiling == 4000,
       "have floors and ceilings");
    power_parts_divide(node, 3, 10000);
    ok(sum(3) == 10000 && node[0].limit >= 4000 && node[1].limit == 4000
           && node[2].limit == 2000,
       "at first as large as they can be");
    node[0].limit = 6000;
    node[1].limit = node[2].limit = 2000;
    power_parts_divide(node, 3, 5000);
    ok(sum(3) == 5000 && node[0].limit >= 3000 && node[1].limit >= 1000,
       "half of it: half for each");
    power_parts_divide(node, 3, 3001);
    ok(sum(3) == 3001, "down to the floors");
    power_parts_divide(node, 3, 20000);
    ok(node[0].limit == 8000 && node[1].limit == 8000 && node[2].limit == 4000,
       "up to the ceilings");
    power_parts_divide(node, 3, 30000);
    is_int((int)sum(3), 20000, "and no further");
    is_int(power_parts_bounds(part, 3, 2999, 0.2, node), -1,
           "less than the floors cannot be divided");
    is_int(power_parts_bounds(part, 0, 2999, 0.2, node), -1,
           "nor anything by nobody");
}

/* Sums stay whole, whatever the numbers. */
static void test_any(void)
{
    struct power_part part[MAX];
    uint64_t seed = 1;
    int wrong = 0;

    for (int round = 0; round < 500; round++) {
        size_t n = 1 + (size_t)round % MAX;
        uint64_t most = 0, budget;

        for (size_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            part[i] = (struct power_part){1, 1 + (seed >> 33), 0};
            node[i].limit = (seed >> 20) % 1000;
            most += part[i].most;
        }
        budget = n + (seed >> 11) % (most - n + 1);
        wrong += power_parts_bounds(part, n, budget, 0.1, node) == 0
                 && (power_parts_divide(node, n, budget), sum(n) != budget);
    }
    is_int(wrong, 0, "the sum is the budget in 500 divisions");
}

/* Two ranks, 1 : 1.6 of work, on equal cores that share a limit. */
static void test_balance(void)
{
    static const struct power_part part[] = {{1000, 8000, 0}, {1000, 8000, 0}};
    static const struct power_rule rule = {POWER_PAIR, POWER_BOUND, POWER_BAND,
                                           POWER_GAIN};

    memset(node, 0, sizeof node);
    (void)power_parts_bounds(part, 2, 8000, 0.25, node);
    power_parts_divide(node, 2, 8000);
    for (int i = 0; i < 5; i++) {
        node[0].progress = (double)node[0].limit;
        node[1].progress = (double)node[1].limit / 1.6;
        (void)power_step(&rule, node, 2, room);
    }
    ok(sum(2) == 8000 && node[1].limit > 4850 && node[1].limit < 5000,
       "two ranks come together: %d of 8000 for the slow one",
       (int)node[1].limit);
}

int main(void)
{
    if (sizeof room < power_bytes(MAX))
        bail("no room");
    test_validity();
    test_budget();
    test_allowed();
    test_divide();
    test_any();
    test_balance();
    done();
}
