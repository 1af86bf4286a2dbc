/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_crew.h - runs a thread on every CPU that this process may use, all with
 * the same work, and measures their rate together (probe_rate.h).
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
    /* Prepare, if possible until until_ns; NULL: there is nothing to prepare.
     * The measurement starts when all threads are ready.  -1: failed. */
    int (*prepare)(void *arg, size_t thread, int64_t until_ns);
    /* Work for some microseconds; returns the units done. */
    uint64_t (*batch)(void *arg, size_t thread);
    void *arg;
    int bound; /* thread i stays on the i-th CPU, so its memory is near */
    double cpus_most; /* CPU seconds per second of a limit; 0: no limit */
    int enough_ms; /* this will do if no thread stands still in it, as one does
                    * at a limit that cannot be seen; 0: it takes all its time */
};

/* The time now, on the clock of until_ns. */
int64_t probe_now_ns(void);

/*
 * The CPUs in our affinity mask, of a machine of any size.  The first "max" of
 * them are stored in cpu[], which may be NULL.  Returns their number, which is
 * the number of threads of a crew; 0 with errno on failure.
 */
size_t probe_crew_cpus(unsigned cpu[], size_t max);

/* The rate of all threads together.  Within a limit it is taken by CPU time,
 * and spread is the one between threads; else both are as by probe_rate(), or 0
 * if the threads never ran at the same time. */
struct crew_rate {
    double units_per_s, spread;
};

/*
 * Prepare for up to two fifths of budget_ms and work for the rest of it, at
 * least two fifths; for less if enough_ms will do, for longer if a thread has
 * had less than CREW_CPU_NS of CPU time by then.  Blocks; the threads block all
 * signals and have ended when it returns.  Fails (results untouched) if there
 * are no threads or no memory for them, or one cannot prepare.
 */
int probe_crew_run(const struct probe_work *work,
                   int budget_ms,
                   struct crew_rate *rate,
                   struct es_error *err);

#endif
