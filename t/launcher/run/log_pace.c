/* SPDX-License-Identifier: BSD-2-Clause */
/* How many lines a batch job's log gets, at times that are made up. */
#include "launcher/run/log_pace.h"

#include "tap.h"

static unsigned lines_of_frames(unsigned frames, double seconds)
{
    struct log_pace p;
    unsigned lines = 0;

    log_pace_start(&p, 1000);
    for (unsigned i = 1; i <= frames; i++)
        lines += log_pace_frame(&p, 1000 + i * seconds) ? 1 : 0;
    return lines;
}

static unsigned lines_of_one(double seconds)
{
    struct log_pace p;
    unsigned lines = 0;

    log_pace_start(&p, 1000);
    for (double t = 0; t <= seconds; t += 0.05)
        lines += log_pace_due(&p, 1000 + t) ? 1 : 0;
    return lines;
}

int main(void)
{
    struct log_pace p;

    is_int(lines_of_frames(20, 0.005), 20, "20 frames: a line each");
    is_int(lines_of_frames(10000, 0.005), 22,
           "10,000 frames of 5 ms: 20, and one 10 s and 30 s after them");
    is_int(lines_of_frames(100, 3600), 100, "100 frames of an hour: all");
    is_int(lines_of_one(9.9), 0, "one frame of 9.9 s: none");
    is_int(lines_of_one(59.9), 2, "of a minute: after 10 s and 30 s");
    is_int(lines_of_one(3690), 63, "of an hour: one a minute in the end");
    log_pace_start(&p, 0);
    ok(!log_pace_due(&p, 9) && log_pace_frame(&p, 9) && !log_pace_due(&p, 18)
           && log_pace_due(&p, 19),
       "a frame's line is one, too: the next is due 10 s after it");
    return done();
}
