/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_cpu.h - how fast this node computes: capability metric, element C.
 *
 * Sustained arithmetic on every CPU that this process may use.  A CPU
 * bandwidth limit (a cgroup's quota, a duty cycle) lets a process run for a
 * while and then stand still for the rest of its period; counting over a
 * window that holds 2.5 periods would err by a third.  So every thread notes
 * when it had done how much, and the rate is taken over whole periods.
 */
#ifndef LAUNCHER_PROBE_CPU_H
#define LAUNCHER_PROBE_CPU_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

#define PROBE_BUDGET_MS     250 /* sees two periods of the usual 100 ms */
#define PROBE_BUDGET_MIN_MS 50
#define PROBE_BUDGET_MAX_MS 5000

/* A stand-still of this length is a stall.  A timer tick or an interrupt is
 * shorter; a 10 ms period at 95 % of a core still stalls for 0.5 ms. */
#define PROBE_STALL_NS 400000

/* By ns, a thread had done so many units since it started. */
struct probe_mark {
    int64_t ns;
    uint64_t units;
};

/* The notes of one thread: n marks, both members ascending. */
struct probe_trace {
    const struct probe_mark *mark;
    size_t n;
};

/*
 * The rate at which n threads together worked, in units per second.
 *
 *   trace   n >= 1 threads, which ran at the same time
 *   spread  relative standard deviation between the parts of the window
 *           (periods where there are some, else eighths); 0 is even
 *
 * The window goes from the end of the first stall to the end of the last one
 * (in any thread), where stalls shorter than half the longest do not count:
 * a limit's stalls all end when its period does, so this is a whole number of
 * periods.  If that window is less than a third of the time that all threads
 * have in common, then it is that time.
 * Pure.  Returns 0, or -1 (results untouched) if the threads have no time in
 * common or did nothing.  O(marks * n).
 */
int probe_cpu_rate(const struct probe_trace trace[],
                   size_t n,
                   double *units_per_s,
                   double *spread);

/*
 * Compute for budget_ms (50..5000) on all CPUs of our affinity mask, a thread
 * a CPU, and say how many units of work were done a second; spread as above.
 * What a unit is does not change with the machine.  Blocks; the threads have
 * all signals blocked and are gone when it returns.
 * Fails (results untouched) when a thread or its memory cannot be had.
 */
int probe_cpu(int budget_ms,
              double *units_per_s,
              double *spread,
              struct es_error *err);

#endif
