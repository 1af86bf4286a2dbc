/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * determination.h - how a frame went: the time difference between the first and
 * the last response, and whether it is over the threshold.
 *
 * Pure but for allocation.  Source: US 8,645,454, step 10.
 */
#ifndef POLICY_DETERMINATION_H
#define POLICY_DETERMINATION_H

#include "policy/dispatch.h"
#include "policy/threshold.h"

struct determination {
    struct completion *completion; /* one a node, for the policy */
    double *back; /* one a node: its last response, 0 if it had no slice */
    double *sent; /* likewise: when it was sent the first that it did */
    size_t n;
    double first, last; /* response, seconds from the frame's start */
    double busy; /* part of the nodes' time until then that commands ran, 0..1;
                    how well it was used is account.h's */
    struct threshold_noise noise;
    int over; /* the nodes' times differ by more than the threshold */
};

/* 0, or -1 if memory ran out. */
int determination_init(struct determination *t, size_t nodes);
void determination_clear(struct determination *t);
/*
 * Weigh a frame that is done.  A node's time is up to its last response, from
 * when it was sent its first piece: with frames ahead, when it had nothing left
 * of those before.  A node without a slice counts neither as first nor as
 * last.  The
 * nodes that `busy` divides by are those that may go on or did a part.
 *
 * As nodes take over from each other, what the policy hears, and what is held
 * against the threshold, is the time that each would have needed for its own
 * slice: tail_unaided(); where pieces are sized by what they cost, the time of
 * its first piece without the start, for as much as its slice has.  One that is lost or finishes its last piece is told
 * as gone.
 */
void determination_weigh(struct determination *t,
                         const struct dispatch *d,
                         const struct threshold_rule *rule);

#endif
