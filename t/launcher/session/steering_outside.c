/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering by ranks that are metered from outside: in short regions and within
 * long ones, and not where it does not help.
 */
#include "steered_nodes.h"

#define LONG_MS 20000 /* a region, at equal limits */

static double part_done[NODES]; /* of the region, done by each */

/* 100 ms of a long region on all nodes, each as fast as its limit makes it,
 * beside what else goes on there. */
static void go_on_within(struct steering *s, const double slowed[NODES])
{
    now_ns += 100000000;
    for (size_t i = 0; i < NODES; i++) {
        double speed = (double)limit_of(i) / (START * MAX_UW) / slowed[i];
        int works = part_done[i] < 0.999;

        part_done[i] = fmin(part_done[i] + 100 * speed / LONG_MS, 0.999);
        record[i].progress = 1 + part_done[i];
        record[i].work_ns += works ? 100000000 : 0;
        record[i].done_ns = (uint64_t)((1 + part_done[i]) * LONG_MS * 1e6);
        record[i].left_ns = (uint64_t)((1 - part_done[i]) * LONG_MS * 1e6);
        record[i].is_waiting = !works;
        record[i].slots = 2;
        tell(s, i);
        answer_all(s);
    }
}

static int anybody_works(void)
{
    for (size_t i = 0; i < NODES; i++)
        if (part_done[i] < 0.999)
            return 1;
    return 0;
}

/* A node has half of its speed from the middle on: the region of 20 s would
 * take 30. */
static void test_long(enum power_variant variant, const char *name)
{
    static const double equal[NODES] = {1, 1, 1, 1},
                        slowed[NODES] = {1, 2, 1, 1};
    struct steering *s = start(variant);
    int64_t began = now_ns, slow, helped = 0;

    memset(part_done, 0, sizeof part_done);
    while (part_done[0] < 0.5)
        go_on_within(s, equal);
    ok(limit_of(1) == MAX_UW / 2 && !steering_has_moved(s),
       "%s: equal nodes are left alone", name);
    slow = now_ns;
    while (anybody_works()) {
        go_on_within(s, slowed);
        if (helped == 0 && (double)limit_of(1) > MAX_UW * 0.55)
            helped = now_ns;
    }
    ok(helped > 0 && helped - slow <= INT64_C(2000000000),
       "%s: a node that slows down in a region of 20 s is helped after %.1f s",
       name, (double)(helped - slow) / 1e9);
    ok((double)(now_ns - began) / 1e9 < 24,
       "and the region takes %.1f s instead of 30",
       (double)(now_ns - began) / 1e9);
    ok(highest == BUDGET, "the sum is kept all the time");
    steering_stop(s);
}

/* Regions of half a second, each ended by a collective; limits help, or not. */
static void short_regions(struct steering *s, int n, int helps)
{
    for (int k = 0; k < n; k++) {
        double took[NODES], longest = 0;

        for (size_t i = 0; i < NODES; i++) {
            double speed = helps ? (double)limit_of(i) / (START * MAX_UW) : 1;

            took[i] = 5e8 * work[i] / speed;
            longest = fmax(longest, took[i]);
        }
        now_ns += (int64_t)longest;
        for (size_t i = 0; i < NODES; i++) {
            record[i].progress += 1;
            record[i].work_ns += (uint64_t)took[i];
            record[i].done_ns += (uint64_t)longest;
            record[i].slots = 2;
            tell(s, i);
            answer_all(s);
        }
    }
}

static void begin_outside(struct steering *s)
{
    for (size_t i = 0; i < NODES; i++)
        record[i].done_ns = 1;
    short_regions(s, 1, 1);
}

static void test_outside(void)
{
    struct steering *s = start(POWER_PAIR);
    int moved = 0, put_back = 0;

    begin_outside(s);
    for (int k = 0; k < 100; k++) {
        short_regions(s, 1, 1);
        moved |= limit_of(3) > MAX_UW / 2;
        put_back += moved && limit_of(3) == MAX_UW / 2;
    }
    ok(moved && put_back == 0,
       "a help that is plain is never taken away to look: %d regions without",
       put_back);
    ok(steering_skew(s) < 2 * POWER_BOUND && highest == BUDGET,
       "ranks from outside: the skew is down to %.6f", steering_skew(s));
    is_near((double)actuator[3].limit, BUDGET * 1.6 / 4.6, BUDGET * 0.02,
            "who has more to do has more");
    is_near(steering_view(s, 3).speed, 1.6 / 4.6 * 4 / 0.5 / 1.6, 0.1,
            "its speed is told in regions a second");
    steering_stop(s);
}

/* A program that waits for memory. */
static void test_no_help(void)
{
    struct steering *s = start(POWER_PAIR);
    int tried = 0;

    begin_outside(s);
    for (int k = 0; k < 60; k++) {
        short_regions(s, 1, 0);
        tried |= (double)limit_of(3) > MAX_UW * 0.55;
    }
    ok(tried && steering_has_moved(s), "limits that help nobody are tried");
    for (size_t i = 0; i < NODES; i++)
        ok(limit_of(i) == MAX_UW / 2, "and put back on n%zu", i);
    ok(highest == BUDGET, "the sum is kept all the time");
    steering_stop(s);
}

int main(void)
{
    open_nodes();
    test_long(POWER_PAIR, "pair");
    test_long(POWER_BOOST, "boost");
    test_outside();
    test_no_help();
    close_nodes();
    return done();
}
