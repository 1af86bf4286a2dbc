/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a run is: units, rate and time left, at times that are made up. */
#include "launcher/run/tally.h"

#include "tap.h"

static void one_long_frame(void)
{
    struct tally t;
    struct tally_now s;

    tally_start(&t, 1, 1000, 100);
    tally_begin(&t, 0, 1000, 0, 100);
    s = tally_now(&t, 0, 107);
    ok(s.done == 0 && s.all == 1000 && s.frame == 0 && s.frames == 1,
       "nothing is back yet: 0 of 1000 units of frame 0");
    ok(s.rate == 0 && s.left < 0, "and nothing is said of rate and time");
    tally_units(&t, 100, 110);
    tally_units(&t, 100, 110);
    s = tally_now(&t, 0, 110);
    is_int((intmax_t)s.done, 200, "what has come back in the middle of it");
    is_near(s.rate, 20, 1e-9, "its rate");
    is_near(s.left, 40, 1e-9, "the time left by it");
    s = tally_now(&t, 0, 125);
    is_near(s.left, 25, 1e-9, "between two answers the time runs down");
    is_near(s.rate, 20, 1e-9, "and the rate stands");
    s = tally_now(&t, 0, 160);
    is_near(s.rate, 200.0 / 60, 1e-9, "an answer that is late lowers the rate");
    is_near(s.left, 240, 1e-9, "and the time left is what that says");
    tally_units(&t, 800, 160);
    tally_end(&t, 1000, 160);
    s = tally_now(&t, 0, 170);
    ok(s.done == 1000 && s.left == 0 && s.frame == 1, "at the end: all");
}

static void underway(void)
{
    struct tally t;
    struct tally_now s;

    tally_start(&t, 1, 1000, 100);
    tally_begin(&t, 0, 1000, 0, 100);
    s = tally_now(&t, 200, 110);
    ok(s.done == 0 && s.all == 1000, "what is underway is not done");
    is_near(s.rate, 20, 1e-9, "but it tells the rate");
    is_near(s.left, 40, 1e-9, "and the time that is left");
    tally_units(&t, 500, 120);
    s = tally_now(&t, 100, 120);
    is_near(s.rate, 30, 1e-9, "with what is back");
    is_near(s.left, 400.0 / 30, 1e-9, "it is what remains");
}

static void several_frames(void)
{
    struct tally t;
    struct tally_now s;

    tally_start(&t, 6, 100, 0);
    for (int f = 0; f < 2; f++) {
        tally_begin(&t, (uint64_t)f, 100, 0, f * 5);
        tally_units(&t, 100, f * 5 + 5);
        tally_end(&t, 100, f * 5 + 5);
    }
    s = tally_now(&t, 0, 10);
    ok(s.done == 200 && s.all == 600 && s.frame == 2,
       "units are counted over all frames");
    is_near(s.left, 20, 1e-9, "and the time left is that of all");
}

static void resumed(void)
{
    struct tally t;
    struct tally_now s;

    tally_start(&t, 6, 100, 0);
    tally_begin(&t, 3, 100, 40, 0);
    s = tally_now(&t, 0, 0);
    ok(s.done == 340 && s.frame == 3 && s.rate == 0,
       "what a run before has done counts as done, not as speed");
    tally_units(&t, 10, 5);
    s = tally_now(&t, 0, 5);
    is_near(s.rate, 2, 1e-9, "the rate is of this run");
    is_near(s.left, 125, 1e-9, "and so is the time left");
}

static void queue(void)
{
    struct tally t;
    struct tally_now s;

    tally_start(&t, 0, 0, 0);
    tally_begin(&t, 0, 50, 0, 100); /* the queue was empty for long */
    tally_units(&t, 10, 105);
    s = tally_now(&t, 0, 105);
    ok(s.done == 10 && s.all == 50 && s.frames == 0,
       "a queue: units of the frame at work");
    is_near(s.rate, 2, 1e-9, "time without a frame is nobody's");
    tally_units(&t, 40, 125);
    tally_end(&t, 50, 125);
    tally_begin(&t, 1, 30, 0, 225);
    s = tally_now(&t, 0, 225);
    ok(s.done == 0 && s.all == 30 && s.frame == 1, "then those of the next");
    is_near(s.rate, 2, 1e-9, "and the time between them is nobody's, either");
}

static void two_at_work(void)
{
    struct tally t;
    struct tally_now s;

    tally_start(&t, 0, 0, 0);
    tally_begin(&t, 0, 50, 0, 0);
    tally_begin(&t, 1, 70, 0, 1);
    tally_units(&t, 45, 4); /* of the first */
    tally_units(&t, 15, 5); /* of the second */
    s = tally_now(&t, 0, 5);
    ok(s.done == 60 && s.all == 120 && s.frame == 0,
       "two frames at work are counted together");
    tally_units(&t, 5, 6);
    tally_end(&t, 50, 6);
    s = tally_now(&t, 0, 6);
    ok(s.done == 15 && s.all == 70 && s.frame == 1,
       "until the first has ended");
}

int main(void)
{
    one_long_frame();
    underway();
    several_frames();
    resumed();
    queue();
    two_at_work();
    return done();
}
