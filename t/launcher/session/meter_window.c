/* SPDX-License-Identifier: BSD-2-Clause */
/* From a node's records to its speed. */
#include "launcher/session/meter_window.h"
#include "tap.h"

#define S UINT64_C(1000000000)

static struct meter_window w;

static int tick(double progress, uint64_t work_ns)
{
    struct msg_progress m = {.progress = progress, .work_ns = work_ns};

    return meter_window_add(&w, &m);
}

static int outside(double progress, uint64_t work, uint64_t done, uint64_t left)
{
    struct msg_progress m = {.progress = progress,
                             .work_ns = work,
                             .done_ns = done,
                             .left_ns = left};

    return meter_window_add(&w, &m);
}

static void test_ticks(void)
{
    meter_window_clear(&w);
    ok(!meter_window_is_enough(&w), "an empty window tells nothing");
    ok(tick(3, 10 * S), "it begins with a record");
    ok(!tick(3.9, 11 * S) && !meter_window_is_enough(&w),
       "a second of work in nine tenths of a region is not enough");
    (void)tick(4, 11 * S);
    ok(meter_window_is_enough(&w), "in a whole one it is");
    is_near(meter_window_speed(&w), 1e-9, 1e-15, "a region a second");
    is_near(meter_window_pace(&w), 0, 0, "there is no other measure");
    ok(tick(2.5, 12 * S), "progress that goes back begins it anew");
    (void)tick(2.6, 13 * S - 1);
    ok(!meter_window_is_enough(&w), "less than a second is not enough");
    (void)tick(2.6, 13 * S);
    ok(meter_window_is_enough(&w), "of a region of ten seconds a second is");
}

static void test_outside(void)
{
    struct msg_progress another = {.epoch = 1, .done_ns = 20 * S};

    meter_window_clear(&w);
    (void)outside(10, 5 * S, 7 * S, 0);
    (void)outside(13, 5 * S + S / 2, 8 * S - 1, 0);
    ok(!meter_window_is_enough(&w),
       "ranks from outside: less than a second of the program");
    (void)outside(14, 5 * S + S / 2, 8 * S, 0);
    ok(meter_window_is_enough(&w), "a second is enough");
    is_near(meter_window_pace(&w), 2, 1e-9,
            "who works half of the time is twice as fast as need be");
    is_near(meter_window_speed(&w), 8e-9, 1e-15, "in regions, too");
    ok(tick(20, 30 * S), "one that ticks is another thing");
    (void)outside(30, 40 * S, 10 * S, 5 * S);
    meter_window_clear(&w);
    (void)outside(30, 40 * S, 10 * S, 5 * S);
    (void)outside(30.04, 40 * S + S * 3 / 4, 10 * S + S / 4, 19 * S / 4);
    ok(meter_window_is_enough(&w),
       "in a long region part of a second is enough, however little was done");
    ok(meter_window_add(&w, &another), "another epoch is another window");
}

int main(void)
{
    test_ticks();
    test_outside();
    return done();
}
