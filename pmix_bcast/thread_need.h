/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_need.h - how many threads the work at hand needs: one more once all that
 * take part are busy, one fewer once those that were left would not be.  Pure.
 */
#ifndef PMIX_BCAST_THREAD_NEED_H
#define PMIX_BCAST_THREAD_NEED_H

#define THREAD_NEED_LOOK_S 0.01 /* over which it is measured, at least */

/*
 * n threads, 1 at least, take part; in the last `passed` seconds each had a CPU for
 * cpu_s[i] of them.  Returns how many are to take part from now on: n, n + 1 or
 * n - 1, within least (1 at least) and most.
 */
unsigned thread_need(const double cpu_s[],
                     unsigned n,
                     double passed,
                     unsigned least,
                     unsigned most);

#endif
