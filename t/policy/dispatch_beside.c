/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames that are cut as one: what is in the pool, and who waits for whom. */
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "tap.h"

#define NODES 2

static const double speed[NODES] = {10, 1}; /* units a second */
static double load[NODES] = {90, 10};
static struct dispatch *d;
static struct cost *cost;
static double state[64];

static void begin(const char *policy, double beside, int is_known)
{
    static const struct cost_terms terms = {.wait = 10, .burn = 20, .each = 1};

    d = dispatch_create(NODES, 1, DISPATCH_BY_COST);
    cost = cost_create(NODES, NULL);
    if (!d || !cost)
        bail("no memory");
    dispatch_set_policy(d, kinds_find(policy), state, load);
    dispatch_set_cost(d, cost);
    cost_expect_speeds(cost, speed);
    if (is_known)
        cost_expect(cost, &terms, 0.02);
    dispatch_set_beside(d, beside, 0);
    if (dispatch_begin(d, (struct slice){0, 100}, NULL, 0) < 0)
        bail("no memory");
}

static void end(void)
{
    dispatch_destroy(d);
    cost_destroy(cost);
}

static void test_can_join(void)
{
    begin("even", -1, 0);
    ok(!dispatch_can_join(d), "of a command that is not known: alone");
    end();
    begin("even", -1, 1);
    ok(dispatch_can_join(d), "of one that is known: with others");
    end();
    begin("static", -1, 1);
    ok(!dispatch_can_join(d), "by loads that somebody has chosen: alone");
    end();
}

static void test_pool(void)
{
    begin("even", -1, 1);
    ok(dispatch_waiting(d) > 0, "alone each has its slice");
    end();
    begin("even", 0, 1);
    ok(dispatch_waiting(d) == 0 && dispatch_pool_work(d) > 99.9
           && dispatch_node(d, 0)->slice > 0,
       "else all of it is in the pool, but what a slice would be is known");
    dispatch_set_beside(d, 900, 0);
    ok(dispatch_feed(d, 0) == 0 && dispatch_current(d, 0)->units.end == 100
           && !dispatch_current(d, 1),
       "of ten frames the fast one does the first, and the slow one nothing");
    end();
}

/* Units that the fast node takes of a frame beside another, of noisy pieces. */
static uint64_t takes_at_once(int is_followed)
{
    static const struct cost_terms noisy = {.wait = 1, .each = 1};
    uint64_t units;

    begin("even", 0, 1);
    cost_expect(cost, &noisy, 0.3);
    dispatch_set_beside(d, 20, is_followed);
    if (dispatch_feed(d, 0) < 0)
        bail("no memory");
    units = dispatch_node(d, 0)->out_units;
    end();
    return units;
}

static void test_followed(void)
{
    uint64_t last = takes_at_once(0), followed = takes_at_once(1);

    ok(last > 0 && last < 70,
       "of the last frames noise holds back much: %ju units go at once",
       (uintmax_t)last);
    ok(followed > 80 && followed < 100,
       "while others follow nobody waits at their end: %ju, a fifth less than "
       "its part",
       (uintmax_t)followed);
}

/* Units that the fast node takes of much work once it has done a piece of ten;
 * 0: none. */
static uint64_t takes_after(uint64_t done)
{
    static const struct cost_part small = {.units = 10, .end = 0.1};
    uint64_t units;

    begin("even", 0, 1);
    if (done > 0)
        cost_add(cost, 0, &small, &(struct cost_run){.seconds = 13});
    dispatch_set_beside(d, 900, 1);
    if (dispatch_feed(d, 0) < 0)
        bail("no memory");
    units = dispatch_node(d, 0)->out_units;
    is_near(cost_largest(cost, 0), (double)done, 1e-9,
            "the largest piece that it has done");
    end();
    return units;
}

static void test_growth(void)
{
    is_int((intmax_t)takes_after(0), 100,
           "by what runs before have said a node takes the frame whole");
    is_int((intmax_t)takes_after(10), 40,
           "but not more than four times what it has been seen to do");
}

/* The fast one works at another frame for so little that it is better to wait. */
static void test_elsewhere(void)
{
    begin("even", 0, 1);
    dispatch_elsewhere(d, 0, 1, 1);
    ok(dispatch_help_takes_look(d, 1, 0),
       "nobody works at it, and there is some: all are looked at for one");
    ok(dispatch_takes_look(d, 1, 0) && !dispatch_takes_look(d, 0, 0)
           && dispatch_feed(d, 0) == 0 && !dispatch_next(d),
       "who would be the last leaves it to one that is soon free");
    dispatch_elsewhere(d, 0, 0, 0);
    ok(dispatch_feed(d, 1) == 0 && dispatch_current(d, 0)->units.end == 100,
       "that takes it");
    ok(!dispatch_takes_look(d, 1, 1) && !dispatch_help_takes_look(d, 1, 1),
       "then there is nothing to look for");
    end();
}

int main(void)
{
    test_can_join();
    test_pool();
    test_followed();
    test_growth();
    test_elsewhere();
    return done();
}
