/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_track.h - from samples of a slot to what its thread has done, and how
 * long it has worked at it.
 *
 * Pure.  Time is counted as work by samples: an interval at both ends of which
 * the thread is within a region counts whole, with one such end half.  So the
 * mean is right for regions that are shorter than the interval, too.  Waiting
 * and what is not metered do not count.
 */
#ifndef LAUNCHER_METER_METER_TRACK_H
#define LAUNCHER_METER_METER_TRACK_H

#include "launcher/libevenstep/meter_page.h"

struct meter_track {
    uint32_t owner; /* 0: nobody has had the slot yet */
    uint64_t regions;
    double fraction;
    double progress;  /* regions done since meter_track_start() */
    uint64_t work_ns; /* likewise */
    uint64_t misuse;  /* since the owner came */
};

enum meter_change {
    METER_STILL,
    METER_MOVED,   /* progress, or from work to waiting or back */
    METER_ANOTHER, /* the slot has come, gone, or starts over */
};

/* Take the next sample, elapsed_ns after the last one. */
enum meter_change meter_track_update(struct meter_track *track,
                                     const struct meter_sample *sample,
                                     uint64_t elapsed_ns);
/* Forget what was done so far. */
void meter_track_start(struct meter_track *track);
/* Has it begun a region? */
int meter_track_is_used(const struct meter_track *track);
/* Is it within one? */
int meter_track_works(const struct meter_track *track);

#endif
