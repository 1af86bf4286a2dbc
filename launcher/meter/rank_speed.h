/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_speed.h - how fast one slot of the meter page gets on: what it has done,
 * and the time that it needed.
 *
 * Pure.  Of a thread that ticks both are as meter_track.h has them.  Of a rank
 * that is metered from outside only whole regions count, with their useful time
 * as the rank has written it; the one that is underway at the start does not,
 * as it began before.  Of a thread of its team likewise, with its time as the
 * thread has written it, also if that is none.
 */
#ifndef LAUNCHER_METER_RANK_SPEED_H
#define LAUNCHER_METER_RANK_SPEED_H

#include "launcher/meter/meter_track.h"

struct rank_speed {
    struct meter_track track;
    int is_outside;  /* it is a rank that is metered from outside */
    int is_thread;   /* it is a thread of such a rank's team: */
    uint32_t leader; /* whose slot is this */
    int is_marked;   /* the first region that counts has begun, with: */
    struct meter_thread mark, last;
    uint64_t next, from; /* its region that is read next; the first to count */
    double done, work_ns;
    uint64_t regions; /* as they were seen last */
    uint64_t ends;    /* of regions, after the first one that was seen */
    int64_t first_end_ns, last_end_ns; /* 0: none was */
};

/* Read slot number i of the page now, elapsed_ns after the last time. */
enum meter_change rank_speed_update(struct rank_speed *s,
                                    const struct meter_page *page,
                                    uint32_t i,
                                    int64_t now_ns,
                                    uint64_t elapsed_ns);
/* Does somebody tell by this slot how he gets on? */
int rank_speed_is_used(const struct rank_speed *s);
/* Count from now on. */
void rank_speed_start(struct rank_speed *s);
/* Regions done, and the nanoseconds that they took. */
double rank_speed_done(const struct rank_speed *s);
double rank_speed_work_ns(const struct rank_speed *s);
/* From one end of a region to the next; 0: not known. */
double rank_speed_region_ns(const struct rank_speed *s);

#endif
