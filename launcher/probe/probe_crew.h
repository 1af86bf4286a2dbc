/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_crew.h - a thread on every CPU that this process may use, all at the
 * same work, and the rate at which they do it together (probe_rate.h).
 */
#ifndef LAUNCHER_PROBE_PROBE_CREW_H
#define LAUNCHER_PROBE_PROBE_CREW_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of CPU time that a rate needs: some hundred batches. */
#define CREW_CPU_NS 2000000

/*
 * A limit of CPU time (cgroup_limit.h) lets threads run for a moment and then
 * stand still until its period is over, usually for 100 ms.  A budget may hold
 * less than two such periods, and what is done in a part of one is a matter of
 * chance.  What threads do in a second of CPU time is not; multiplied by the
 * limit it is their rate, even on a node that others keep busy.
 */

/* What a thread does.  All members are called in the crew's threads. */
struct probe_work {
    /* Get ready, by until_ns if that can be had; NULL: nothing to prepare.
     * The clock starts when all are ready.  -1: this thread cannot. */
    int (*prepare)(void *arg, size_t thread, int64_t until_ns);
    /* Work for some microseconds; returns the units done. */
    uint64_t (*batch)(void *arg, size_t thread);
    void *arg;
    int bound; /* thread i stays on the i-th CPU, so its memory is near */
    double cpus_most; /* CPUs' worth of time that a limit gives; 0: none */
};

/* Nanoseconds of the clock that until_ns is told in. */
int64_t probe_now_ns(void);

/*
 * The CPUs in our affinity mask, however large the machine: the first "max"
 * of them go to cpu[], which may be NULL.  Returns how many there are, which
 * is the number of threads of a crew; 0 with errno on failure.
 */
size_t probe_crew_cpus(unsigned cpu[], size_t max);

/* Of all threads together.  Within a limit by their CPU time, the spread being
 * that between them; else as of probe_rate(), and 0 if they had no time in
 * common. */
struct crew_rate {
    double units_per_s, spread;
};

/*
 * Prepare for up to two fifths of budget_ms and work for the rest of it, at
 * least two fifths; longer where a thread has not had CREW_CPU_NS of CPU time
 * by then.  Blocks; the threads have all signals blocked and are gone when it
 * returns.  Fails (results untouched) when a thread or its memory cannot be
 * had, or one cannot prepare.
 */
int probe_crew_run(const struct probe_work *work,
                   int budget_ms,
                   struct crew_rate *rate,
                   struct es_error *err);

#endif
