/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * even.h - the default policy: slices from measured speed.
 *
 * First loads are JL.  It keeps two things, both relative and in the same
 * scale: each node's speed, and how the cost of a unit varies over the frame,
 * as a density on a fixed number of bins.  A frame is cut where the density
 * adds up to shares in proportion to the speeds.  After a frame, for each node
 *
 *   expected seconds = units * mean density of its slice / speed
 *   surprise         = seconds / expected, over the median of all nodes
 *
 * The median takes out what all have in common: the scale of the first
 * measurement against JL, and a frame that is harder as a whole.  Nodes
 * without a measurement keep their speed and so stay in proportion to it.
 * A part of the surprise (the gain) is believed:
 *  - all of the first: the prior is forgotten, one frame finds the speeds;
 *  - of the k-th after that 1/k, down to `gain`: noise is averaged down;
 *  - all of one above `jump`: the node has changed.  k starts again.
 * What is believed goes to the node's speed in so far as its slice covers
 * what it covered before, and to the density under the slice otherwise.  So a
 * node that slows down is followed at once, and rows that are costly stay
 * where they are when the boundaries move over them.  How it is divided
 * decides only how fast equal times are reached: there, nothing is surprising,
 * so they are the fixed point whatever was wrongly believed on the way; a
 * fixed cost per slice (process start) also needs no model of its own.
 *
 * Where pieces are sized by what they cost (sizing.h), the loads count only until
 * that is known.
 *
 * New loads are published only if over the threshold, but it always learns.
 *
 * A node whose slice rounds to nothing cannot be measured.  Its speed grows by
 * `regain` a frame, threshold or not, until it gets a grain again: a node that
 * was slow for a while comes back, one that still is costs a few percent. In
 * frames smaller than the ring, nodes take turns by this.  JL 0 means unable:
 * such a node never gets work, unless only such are left; then all get equal
 * loads.
 *
 * Figures: t/policy/even.c, which simulates all of this.
 */
#ifndef POLICY_EVEN_H
#define POLICY_EVEN_H

#include "policy/policy.h"

/* Defaults; all found by simulation, see t/policy/even.c. */
#define EVEN_GAIN   0.3  /* lower: less noise, slower to follow a drift */
#define EVEN_JUMP   0.15 /* relative; above it: three sigma of 5 % noise */
#define EVEN_REGAIN 0.02 /* a frame; 0 leaves starved nodes alone */

extern const struct policy_kind even_kind;

#endif
