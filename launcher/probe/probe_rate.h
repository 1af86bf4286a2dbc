/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_rate.h - the rate at which threads work, from what they had done at
 * which time.
 *
 * A CPU bandwidth limit (a cgroup's quota, a duty cycle) lets a process run for
 * a while and then stand still for the rest of its period; counting over a
 * window that holds 2.5 periods would err by a third.  So every thread notes
 * when it had done how much, and the rate is taken over whole periods.  Pure.
 */
#ifndef LAUNCHER_PROBE_PROBE_RATE_H
#define LAUNCHER_PROBE_PROBE_RATE_H

#include <stddef.h>
#include <stdint.h>

/* A pause of this length is a stall.  A timer tick or an interrupt takes less;
 * a period of 10 ms at 95 % of a core still stalls for 0.5 ms. */
#define PROBE_STALL_NS 400000

/* At ns a thread had done so many units since it started. */
struct probe_mark {
    int64_t ns;
    uint64_t units;
};

/* The marks of one thread, n, both members ascending. */
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
 * The window goes from the end of the first stall to the end of the last one,
 * of any thread; stalls shorter than half of the longest do not count.  The
 * stalls of a limit all end with its period, so the window is a whole number of
 * periods.  If it is shorter than a third of the time during which all threads
 * ran, that time is taken instead.
 * Pure.  Returns 0, or -1 (results untouched) if the threads never ran at the
 * same time or did nothing.  O(marks * n).
 */
int probe_rate(const struct probe_trace trace[],
               size_t n,
               double *units_per_s,
               double *spread);

/*
 * Mean and relative standard deviation of n >= 1 values, for probes that see
 * no periods; *spread is 0 if the mean is not above 0.
 */
double probe_mean(const double value[], size_t n, double *spread);

#endif
