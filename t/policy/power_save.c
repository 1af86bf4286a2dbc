/* SPDX-License-Identifier: BSD-2-Clause */
/* The same barrier time with the least power: the step on tables of numbers,
 * and how many joules a simulation saves. */
#include "policy/power_save.h"
#include "policy/power.h"
#include "policy/power_simulation.h"
#include "tap.h"

#define MAX 8

static const struct power_rule save = {POWER_SAVE, 0, 0, 1};

/* --- one step ------------------------------------------------------------- */

static void test_step(void)
{
    const struct {
        const char *what;
        struct power_node node[3]; /* progress, limit, floor, ceiling */
        uint64_t want[3];
    } rows[] = {
        {"those who wait are lowered to the slowest, less the margin",
         {{1, 1000, 100, 1000}, {2, 1000, 100, 1000}, {4, 1000, 100, 1000}},
         {1000, 505, 252}},
        {"not below the floor",
         {{1, 1000, 100, 1000}, {2, 1000, 700, 1000}, {4, 1000, 300, 1000}},
         {1000, 700, 300}},
        {"one that has become the slowest goes up, and nobody goes down for it",
         {{1, 1000, 100, 1000}, {0.5, 400, 100, 1000}, {1.01, 250, 100, 1000}},
         {1000, 808, 250}},
        {"up to the ceiling, not above",
         {{1, 1000, 100, 1000}, {0.2, 400, 100, 1000}, {1.01, 250, 100, 1000}},
         {1000, 1000, 250}},
        {"within half the margin of where they are to be, nothing is changed",
         {{1, 1000, 100, 1000}, {1.006, 500, 100, 1000}, {1.014, 300, 9, 1000}},
         {1000, 500, 300}},
        {"one that does not report keeps its limit",
         {{1, 1000, 100, 1000}, {0, 500, 100, 1000}, {2, 1000, 100, 1000}},
         {1000, 500, 505}},
        {"none at its ceiling: nobody is lowered below the least that is thought",
         {{1, 500, 100, 1000}, {1, 250, 100, 1000}, {1, 400, 100, 1000}},
         {1000, 505, 808}},
        {"a progress that is no number is no report",
         {{NAN, 1000, 100, 1000}, {INFINITY, 1000, 100, 1000}, {-1, 7, 1, 9}},
         {1000, 1000, 7}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct power_node node[3];
        size_t changed, differ = 0;

        memcpy(node, rows[i].node, sizeof node);
        changed = power_step(&save, node, 3, NULL);
        for (size_t k = 0; k < 3; k++)
            differ += node[k].limit != rows[i].node[k].limit;
        ok(node[0].limit == rows[i].want[0] && node[1].limit == rows[i].want[1]
               && node[2].limit == rows[i].want[2] && changed == differ,
           "%s: %ju %ju %ju", rows[i].what, (uintmax_t)node[0].limit,
           (uintmax_t)node[1].limit, (uintmax_t)node[2].limit);
    }
}

static uint32_t lcg(uint32_t *x)
{
    return (*x = *x * 1664525 + 1013904223) >> 8;
}

static void test_bounds(void)
{
    uint32_t x = 5;
    int bounded = 1;

    for (int round = 0; round < 20000; round++) {
        struct power_node node[MAX];

        for (size_t i = 0; i < MAX; i++) {
            uint64_t floor = 1 + lcg(&x) % 500;
            uint64_t ceiling = floor + lcg(&x) % 500;

            node[i] = (struct power_node){
                lcg(&x) % 1000 / 100.0, floor + lcg(&x) % (ceiling - floor + 1),
                floor, ceiling};
        }
        (void)power_save_step(&save, node, MAX);
        for (size_t i = 0; i < MAX; i++)
            bounded &= node[i].limit >= node[i].floor
                       && node[i].limit <= node[i].ceiling;
    }
    ok(bounded, "no floor is broken and nobody gets more than at the start");
}

/* --- what it saves -------------------------------------------------------- */

struct course {
    double first_s, longest_s, last_s; /* a region */
    double first_j, last_j;
    int is_above; /* a limit above that of the start */
};

static struct course simulate(const struct power_simulation_setup *s,
                              size_t regions)
{
    void *state = malloc(power_simulation_bytes(s->n));
    struct course c = {.is_above = 0};

    if (!state || power_simulation_init(state, s) < 0)
        bail("no simulation");
    for (size_t i = 0; i < regions; i++) {
        struct power_region r;

        power_simulation_next(state, &r);
        if (i == 0) {
            c.first_s = r.seconds;
            c.first_j = r.energy;
        }
        c.longest_s = fmax(c.longest_s, r.seconds);
        c.last_s = r.seconds;
        c.last_j = r.energy;
        for (size_t k = 0; k < s->n; k++)
            c.is_above |= power_simulation_limit(state, k) > s->limit;
    }
    free(state);
    return c;
}

/* Joules of a region that the skew lets go: a node of work w needs no more than
 * w / most of the speed, for as long as the last works. */
static double predicted(const struct power_simulation_setup *s)
{
    double idle = (double)s->idle / 1e6, all = 0, most = 0;

    for (size_t i = 0; i < s->n; i++)
        most = fmax(most, s->work[i]);
    for (size_t i = 0; i < s->n; i++) {
        double part = s->work[i] / most;
        double needs = idle + (1 - idle) * pow(part, 1 / s->exponent);
        double used = s->sleeps ? part + (1 - part) * idle : 1;

        all += (used - needs) * most;
    }
    return all;
}

static void test_saves(void)
{
    static const double one_late[] = {1, 1, 1, 1.6},
                        all_unlike[] = {1, 1.2, 1.4, 1.6};
    const struct {
        const char *what;
        const double *work;
        double exponent;
        uint64_t idle;
        int sleeps;
    } rows[] = {
        {"one late, P = k f^3", one_late, 1 / 3.0, 0, 0},
        {"one late, P = 20 % + k f^3", one_late, 1 / 3.0, 200000, 0},
        {"all unlike, P = 20 % + k f^3", all_unlike, 1 / 3.0, 200000, 0},
        {"all unlike, P = 20 % + k f", all_unlike, 1, 200000, 0},
        {"one late, and who waits sleeps", one_late, 1 / 3.0, 200000, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct power_simulation_setup s = {
            .n = 4,
            .work = rows[i].work,
            .limit = 1000000,
            .floor = 200001,
            .ceiling = 1000000,
            .idle = rows[i].idle,
            .sleeps = rows[i].sleeps,
            .exponent = rows[i].exponent,
            .rule = {POWER_SAVE, POWER_BOUND, POWER_BAND, POWER_GAIN},
            .seed = 1};
        struct course c = simulate(&s, 40);
        double saved = c.first_j - c.last_j, goal = predicted(&s);

        ok(fabs(saved / goal - 1) <= 0.05,
           "%s: %.3f of %.3f saved a region, by the skew %.3f", rows[i].what,
           saved, c.first_j, goal);
        ok(c.longest_s <= c.first_s * 1.001, "in the same time");
        ok(!c.is_above, "nobody is given more than at the start");
    }
}

/* Steeper than in proportion: the way down is too long, and comes back. */
static void test_steep(void)
{
    static const double work[] = {1, 1, 1, 1.6};
    struct power_simulation_setup s = {
        .n = 4,
        .work = work,
        .limit = 1000000,
        .floor = 100000,
        .ceiling = 1000000,
        .exponent = 2,
        .rule = {POWER_SAVE, POWER_BOUND, POWER_BAND, POWER_GAIN},
        .seed = 1};
    struct course c = simulate(&s, 60);

    ok(c.last_s <= c.first_s * 1.001 && c.last_j < c.first_j * 0.9,
       "speed = limit ^ 2: the same time in the end (longest %.3f of %.3f), "
       "%.3f of %.3f",
       c.longest_s, c.first_s, c.last_j, c.first_j);
    s.exponent = 1 / 3.0;
    s.noise = 0.005;
    c = simulate(&s, 200);
    ok(c.longest_s <= c.first_s * 1.03 && c.last_j < c.first_j * 0.55,
       "with 0.5 %% noise: longest %.3f of %.3f, %.3f of %.3f", c.longest_s,
       c.first_s, c.last_j, c.first_j);
}

int main(void)
{
    test_step();
    test_bounds();
    test_saves();
    test_steep();
    return done();
}
