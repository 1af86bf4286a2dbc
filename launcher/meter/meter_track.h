/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_track.h - adds up samples of a slot: how much its thread has done, and
 * for how long it has worked.
 *
 * Pure.  The time between two samples counts as work if the thread is within a
 * region at both ends, and half of it if at one end.  So the mean is right even
 * for regions that are shorter than the interval.  Waiting and code without a
 * meter do not count.
 */
#ifndef LAUNCHER_METER_METER_TRACK_H
#define LAUNCHER_METER_METER_TRACK_H

#include "launcher/libevenstep/meter_page.h"

struct meter_track {
    uint32_t owner; /* 0: nobody has used the slot yet */
    uint64_t regions;
    double fraction;
    double progress;  /* regions done since meter_track_start() */
    uint64_t work_ns; /* likewise */
    uint64_t misuse;  /* since the owner took the slot */
};

enum meter_change {
    METER_STILL,
    METER_MOVED,   /* it made progress, or went from work to waiting or back */
    METER_ANOTHER, /* the slot was taken, given up, or started over */
};

/* Add the next sample, elapsed_ns after the one before. */
enum meter_change meter_track_update(struct meter_track *track,
                                     const struct meter_sample *sample,
                                     uint64_t elapsed_ns);
/* Set progress and work_ns to 0. */
void meter_track_start(struct meter_track *track);
/* Has the thread begun a region? */
int meter_track_is_used(const struct meter_track *track);
/* Is it within a region? */
int meter_track_works(const struct meter_track *track);

#endif
