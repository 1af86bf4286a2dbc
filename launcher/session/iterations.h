/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iterations.h - counts a program's iterations, and says when they end, by how
 * many of its regions have ended.
 *
 * Pure.  An iteration of many programs is a long region and some that take
 * next to nothing: a step, and then the sums that are printed of it.  So of
 * regions that are seen to end one by one, those count that are not much
 * shorter than the longest of the last ones; what they took belongs to the next
 * that counts.  Short regions, of which many end between two looks, count one
 * each.
 */
#ifndef LAUNCHER_SESSION_ITERATIONS_H
#define LAUNCHER_SESSION_ITERATIONS_H

#include <stdint.h>

struct iterations { /* all zero: nothing was seen */
    uint64_t n;     /* iterations */
    int64_t end_ns; /* of the last of them; 0: no end was seen yet */
    uint64_t regions;
    int64_t looked_ns;
    double longest_ns; /* of a region, lately */
};

/* So many regions have ended by now; fewer than before: another program.  It is
 * looked at every so many ns (0: only now), and this need not be called where
 * nothing has changed. */
void iterations_add(struct iterations *it,
                    uint64_t regions,
                    int64_t now,
                    int64_t every_ns);

#endif
