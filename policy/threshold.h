/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threshold.h - the threshold T of US 8,645,454: how much later than the first
 * response the last may come before the loads are adjusted.
 *
 * By hand in seconds or in percent of the frame's mean time, or `auto`: so much
 * as noise alone would exceed in one frame of twenty.  Noise is what a node's
 * time per unit changes by from frame to frame, against the change of the
 * median node: so what all have in common, a harder frame, is taken out.  Of
 * these, over the last frames and up to 64 nodes, the median is taken again, so
 * that a node that changes its speed, or one that is always restless, does not
 * count as noise.  What two frames differ by has twice a frame's variance.  The
 * range of n normal variates of standard deviation s is below
 * 2 s sqrt(2 ln(1.35 n)) in 95 % of the cases (within 4 % of the tables of the
 * range, n = 2 to 100; t/policy/threshold.c).
 *
 * A difference of one grain on the slowest node is the best that can be had, so
 * `auto` is never less.  Before two frames are known the noise counts as 0: the
 * first frames are adjusted.
 */
#ifndef POLICY_THRESHOLD_H
#define POLICY_THRESHOLD_H

#include "policy/policy.h"

#define THRESHOLD_NODES  64 /* watched, spread over all: 12 % off at 4 nodes */
#define THRESHOLD_FRAMES 16 /* remembered; more: slower to see a new noise */

enum threshold_unit {
    THRESHOLD_SECONDS,
    THRESHOLD_PERCENT, /* of the mean time of the nodes that had a slice */
    THRESHOLD_AUTO
};

struct threshold_rule {
    enum threshold_unit unit;
    double value; /* finite and >= 0; not looked at by THRESHOLD_AUTO */
};

/* What is known of the noise; {0} at the start. */
struct threshold_noise {
    double rate[THRESHOLD_NODES]; /* seconds per unit, last frame; 0 = none */
    double change[THRESHOLD_FRAMES][THRESHOLD_NODES]; /* against the median */
    size_t changes[THRESHOLD_FRAMES];                 /* that are known */
    size_t frames; /* heard with any change */
};

/* Take in a frame of n nodes; always the same n. */
void threshold_feedback(struct threshold_noise *noise,
                        const struct completion c[],
                        size_t n);

/* Standard deviation of a node's time in a frame, relative to it; 0 = not yet
 * known. */
double threshold_deviation(const struct threshold_noise *noise);

/*
 * T for a frame, in seconds: adjust if last - first > T.  noise is as before
 * the frame is heard; grain in units, >= 1.  O(n).
 */
double threshold_seconds(const struct threshold_rule *rule,
                         const struct threshold_noise *noise,
                         const struct completion c[],
                         size_t n,
                         uint64_t grain);

#endif
