/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - the time that only goes forward (CLOCK_MONOTONIC), for all that
 * measures or waits; it stands still while this process does.
 *
 * A beat finds that out: a process that was stopped (scontrol suspend, gang
 * scheduling, SIGSTOP, a frozen cgroup) finds its beat late when it goes on.  A
 * process without beats has the plain time.  For the main thread only.
 */
#ifndef PMIX_BCAST_CLOCK_H
#define PMIX_BCAST_CLOCK_H

#include <stdint.h>

#define CLOCK_BEAT_S 1

int64_t clock_ns(void);
double clock_s(void); /* in seconds */

/* To be called every CLOCK_BEAT_S by an event loop, from its start on. */
void clock_beat(void);
void clock_end_beats(void);
/* For how long this process was stopped, all in all. */
int64_t clock_stopped_ns(void);

#endif
