/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lending.h - which CPUs of a node's ranks that wait are lent to which others.
 *
 * "Lend when idle": a process that is blocked in MPI lends its CPUs to one of
 * its node that can use them, and has them back when it goes on (Garcia, Corbalan,
 * Labarta, "LeWI: A Runtime Balancing Algorithm for Nested Parallelism", ICPP
 * 2009; in BSC's DLB).  Here a rank borrows for threads that it has beyond its
 * own CPUs, which share these otherwise.
 *
 * Pure.  Each rank decides for itself; ranks are numbered from 1.
 */
#ifndef POLICY_LENDING_H
#define POLICY_LENDING_H

#include <stddef.h>
#include <stdint.h>

#define LENDING_IDLE_NS INT64_C(1000000) /* who waits no longer lends nothing */

/* Iterations that are shorter gain nothing: a CPU is lent when its rank has
 * waited, and is moved to when that is next seen. */
#define LENDING_REGION_NS INT64_C(15000000)

/* Is it worth looking for CPUs, of a program that has ended so many regions
 * lately, in so many ns?  In one that has ended none it is. */
int lending_is_worth(uint64_t regions, int64_t ns);

struct lending_cpu {
    uint32_t owner;    /* 0: nobody's, or of several ranks */
    uint32_t borrower; /* 0: nobody */
    int is_idle;       /* its owner has waited for so long */
};

/*
 * The CPUs that rank self is to have borrowed from now on, at most `want`, where
 * so many ranks, it among them, want some: what it has of those that are idle
 * still, then others that are, but no more than its share of all of these.
 * chosen[want] gets their numbers; returns how many.  O(n).
 */
size_t lending_choose(const struct lending_cpu cpu[],
                      size_t n,
                      uint32_t self,
                      size_t want,
                      size_t hungry,
                      uint32_t chosen[]);

#endif
