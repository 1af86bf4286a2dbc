/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames side by side: which lane each has. */
#include "launcher/whatif/report_lanes.h"

#include "tap.h"

#define FRAMES 12

#define AT(from, seconds)                                                      \
    {                                                                          \
        .start = (from), .last = (seconds)                                     \
    }

static void check(const char *what,
                  size_t n,
                  struct report_frame frame[],
                  const unsigned char want[],
                  size_t lanes,
                  int overlap)
{
    const struct report_file f = {.frame = frame, .n = n};
    unsigned char lane[FRAMES];
    int same = 1;

    ok(report_lanes(&f, 0, n, lane) == lanes, "%s: %zu lanes", what, lanes);
    for (size_t i = 0; i < n; i++)
        same &= lane[i] == want[i];
    ok(same, "each has its own");
    ok(report_overlaps(&f) == overlap, "they %soverlap",
       overlap ? "" : "do not ");
}

static void part(void)
{
    struct report_frame frame[] = {AT(0, 9), AT(1, 1), AT(2, 1)};
    const struct report_file f = {.frame = frame, .n = 3};
    unsigned char lane[2] = {9, 9};

    ok(report_lanes(&f, 1, 3, lane) == 1 && lane[0] == 0 && lane[1] == 0,
       "of some frames the others do not count");
}

int main(void)
{
    static struct report_frame after[] = {AT(0, 1), AT(1, 2), AT(3.5, 1)};
    static struct report_frame beside[] = {AT(0, 4), AT(1, 4), AT(2, 1),
                                           AT(4, 2), AT(5, 1)};
    static struct report_frame crowd[FRAMES] = {AT(0, 9), AT(0, 8), AT(0, 7),
                                                AT(0, 6), AT(0, 5), AT(0, 4),
                                                AT(0, 3), AT(0, 2), AT(1, 5)};

    check("no frame", 0, after, NULL, 1, 0);
    check("one after the other", 3, after, (unsigned char[]){0, 0, 0}, 1, 0);
    check("beside each other", 5, beside, (unsigned char[]){0, 1, 2, 0, 1}, 3,
          1);
    check("too many", 9, crowd, (unsigned char[]){0, 1, 2, 3, 4, 5, 6, 7, 7},
          REPORT_LANES, 1);
    part();
    return done();
}
