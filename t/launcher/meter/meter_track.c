/* SPDX-License-Identifier: BSD-2-Clause */
/* From samples of a thread's slot: what it has done, and how long it worked. */
#include "launcher/meter/meter_track.h"
#include "tap.h"

#define OWNER 77

/* The next sample of a slot, 10 ns after the last one. */
static enum meter_change see(struct meter_track *t,
                             uint32_t owner,
                             uint64_t regions,
                             double fraction)
{
    const struct meter_sample s = {
        .owner = owner, .regions = regions, .fraction = fraction};

    return meter_track_update(t, &s, 10);
}

static void test_progress(void)
{
    struct meter_track t = {0};

    ok(see(&t, 0, 0, 0) == METER_STILL && !meter_track_is_used(&t),
       "a slot that nobody has had is still");
    ok(see(&t, OWNER, 0, 0) == METER_STILL && !meter_track_is_used(&t),
       "so is one whose thread has begun no region");
    ok(see(&t, OWNER, 1, 0.25) == METER_ANOTHER && meter_track_works(&t),
       "its first region is news");
    is_near(t.progress, 0, 0, "what it had done before we looked is not ours");
    is_int(see(&t, OWNER, 1, 0.75), METER_MOVED, "it has moved");
    is_near(t.progress, 0.5, 1e-12, "by half a region");
    is_int(see(&t, OWNER, 3, 0.25), METER_MOVED, "and to another");
    is_near(t.progress, 2, 1e-12,
            "a region that is left before its end counts as done");
    is_int(see(&t, OWNER, 3, 0.25), METER_STILL,
           "without progress it is still");
    meter_track_start(&t);
    see(&t, OWNER, 3, 0.5);
    is_near(t.progress, 0.25, 1e-12, "after a start it counts from there");
}

static void test_work(void)
{
    struct meter_track t = {0};

    see(&t, OWNER, 1, 0);
    is_int((int)t.work_ns, 0, "before the first sample no time is counted");
    see(&t, OWNER, 1, 0.5);
    is_int((int)t.work_ns, 10, "an interval within a region counts whole");
    is_int(see(&t, OWNER, 1, 1), METER_MOVED, "the end of a region is news");
    is_int((int)t.work_ns, 15, "and an interval with one such end half");
    see(&t, OWNER, 1, 1);
    is_int((int)t.work_ns, 15, "waiting does not count");
    see(&t, OWNER, 2, 0.5);
    is_int((int)t.work_ns, 20, "work that begins counts half, too");
    is_int(see(&t, OWNER, 3, 0.5), METER_MOVED,
           "a region that begins as the last one ends is work");
    is_int((int)t.work_ns, 30, "for the whole interval");
    meter_track_start(&t);
    is_int((int)t.work_ns, 0, "a start forgets it");
}

static void test_starts_over(void)
{
    struct meter_track t = {0};

    see(&t, OWNER, 5, 0.5);
    see(&t, OWNER, 6, 0.5);
    is_int(see(&t, OWNER + 1, 6, 0.75), METER_ANOTHER,
           "another thread in the slot starts over");
    is_near(t.progress, 0, 0, "its progress, too");
    see(&t, OWNER + 1, 8, 0.5);
    is_int(see(&t, OWNER + 1, 7, 0.75), METER_ANOTHER,
           "so do regions that go back");
    see(&t, OWNER + 1, 7, 0.875);
    is_int(see(&t, OWNER + 1, 7, 0.5), METER_ANOTHER,
           "and a fraction that does");
    is_int(see(&t, 0, 0, 0), METER_ANOTHER, "a thread that ends is news");
    ok(!meter_track_is_used(&t) && !meter_track_works(&t)
           && see(&t, 0, 0, 0) == METER_STILL,
       "once, and its slot is free");
}

int main(void)
{
    test_progress();
    test_work();
    test_starts_over();
    return done();
}
