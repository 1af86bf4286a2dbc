/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failure.h - what becomes of units that a command has failed at.
 *
 * They are tried again, `retries` times.  After that they are left out; or,
 * with halves, those of more than one grain are cut in two, to find the grain
 * whose fault it is.  A half of several grains is tried once, as its fault is
 * likely, and a single grain as often as any piece.  So one bad grain among n
 * costs at most 2 log2(n) + retries tries more, rounded up.
 */
#ifndef POLICY_FAILURE_H
#define POLICY_FAILURE_H

#include "policy/unit_pool.h"

struct failure_rule {
    unsigned retries;
    int halves;
    int doubts; /* what first fails at a node that has done nothing well yet is
                   tried by another, if there is one, and does not count */
};

enum failure_verdict {
    FAILURE_RETRY,
    FAILURE_HALVE,
    FAILURE_LEAVE_OUT,
    FAILURE_COPIED /* a copy of it is at work: it does not count */
};

/* b has just failed, which it counts.  Was it by running for too long?  Then it
 * is tried again at least once. */
enum failure_verdict failure_judge(const struct failure_rule *rule,
                                   const struct batch *b,
                                   int is_late,
                                   uint64_t grain);
/* Of FAILURE_HALVE: in two, at a multiple of grain behind its begin. */
void failure_halve(const struct failure_rule *rule,
                   const struct batch *b,
                   uint64_t grain,
                   struct batch half[2]);

#endif
