/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_lanes.h"

/* Seconds; of less a clock tells nothing. */
#define TOGETHER 1e-4

/* The first lane that is free by then, or else the one that is soonest. */
static size_t choose(const double free[], size_t lanes, double start)
{
    size_t soonest = 0;

    for (size_t i = 0; i < lanes; i++) {
        if (free[i] <= start + TOGETHER)
            return i;
        if (free[i] < free[soonest])
            soonest = i;
    }
    return lanes < REPORT_LANES ? lanes : soonest;
}

size_t report_lanes(const struct report_file *f,
                    size_t begin,
                    size_t end,
                    unsigned char lane[])
{
    double free[REPORT_LANES] = {0};
    size_t lanes = 1;

    for (size_t i = begin; i < end; i++) {
        const struct report_frame *frame = &f->frame[i];
        size_t at = choose(free, lanes, frame->start);

        lane[i - begin] = (unsigned char)at;
        lanes += at == lanes;
        free[at] = frame->start + frame->last;
    }
    return lanes;
}

int report_overlaps(const struct report_file *f)
{
    for (size_t i = 1; i < f->n; i++) {
        const struct report_frame *before = &f->frame[i - 1];

        if (before->start + before->last > f->frame[i].start + TOGETHER)
            return 1;
    }
    return 0;
}
