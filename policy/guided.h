/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guided.h - guided self-scheduling: large bundles at first, small ones at the
 * end.
 *
 * A node's next bundle is what is left of the frame, divided by `divisor` times
 * the number of nodes.  So whoever is slow, or slows down, holds ever less when
 * the others have nothing left to do, and a frame takes O(n log units) bundles.
 * It looks at no speed and keeps nothing from one frame to the next.
 *
 * C. D. Polychronopoulos and D. J. Kuck, Guided Self-Scheduling: A Practical
 * Scheduling Scheme for Parallel Supercomputers, IEEE Transactions on Computers
 * C-36 (12), 1987, have the divisor 1.  The more unequal nodes are, the larger
 * it should be, as a slow node's first bundle must not outlast the frame.
 */
#ifndef POLICY_GUIDED_H
#define POLICY_GUIDED_H

#include "policy/policy.h"

extern const struct policy_kind guided_kind;

#endif
