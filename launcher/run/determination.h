/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * determination.h - seed 1's determination module, step 10: the time
 * difference between the first and the last response of a frame, and whether
 * it is over the threshold.
 */
#ifndef LAUNCHER_RUN_DETERMINATION_H
#define LAUNCHER_RUN_DETERMINATION_H

#include "launcher/run/distribution.h"
#include "policy/policy.h"
#include "policy/threshold.h"

struct determination {
    struct completion *completion; /* one a node, for the policy */
    double *back; /* one a node: its last response, 0 if it had no slice */
    size_t n;
    double first, last; /* response, seconds from the frame's start */
    double efficiency;  /* busy time of all nodes / (nodes x last), 0..1 */
    struct threshold_noise noise;
    int over; /* the nodes' times differ by more than the threshold */
};

/* 0, or -1 if memory ran out. */
int determination_init(struct determination *t, size_t nodes);
void determination_clear(struct determination *t);
/*
 * Weigh a frame that is done.  A node's time is its last response; a node
 * without a slice counts neither as first nor as last.  The nodes that the
 * efficiency divides by are those that are present or did a part.
 *
 * As nodes take over from each other, what the policy hears, and what is held
 * against the threshold, is the time that each would have needed for its own
 * slice: tail_unaided().
 */
void determination_weigh(struct determination *t,
                         const struct distribution *d,
                         const struct threshold_rule *rule);

#endif
