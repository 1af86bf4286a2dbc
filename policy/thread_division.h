/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_division.h - how the threads of a node are divided among its ranks, so
 * that those with more to do have more of them.
 *
 * The actuator "more OpenMP threads for a slow rank" of US 9,477,533, within one
 * node: the sum stays.  Pure.
 */
#ifndef POLICY_THREAD_DIVISION_H
#define POLICY_THREAD_DIVISION_H

#include <stddef.h>
#include <stdint.h>

struct thread_rank {
    double work;   /* of a region, in thread-seconds; 0: not known */
    uint32_t most; /* threads that it has CPUs for, >= 1 */
    uint32_t threads;
};

/*
 * Set threads of each: 1 at least, `most` at most, and together no more than
 * all unless there are more ranks than that.  The longest region, work/threads,
 * is as short as can be.  One whose work is not known has that of the mean.
 * O(all * n).
 */
void thread_division(struct thread_rank rank[], size_t n, uint32_t all);

/* The longest region; 0 if no work is known. */
double thread_division_longest(const struct thread_rank rank[], size_t n);

#endif
