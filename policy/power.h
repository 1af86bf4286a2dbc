/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power.h - steer power from the nodes that reach the barrier first to those
 * that come last, within a total that is never exceeded.
 *
 * Pure.  The balancing step of US 9,477,533; the code has its numbers:
 *
 *  2. The skew of a group is variance / mean of its work fractions: what each
 *     node has done of its work when the fastest has done all of its own.
 *  3. Within the bound nothing is changed.
 *  4. Else the nodes are sorted by progress and paired, the fastest with the
 *     slowest, the second fastest with the second slowest; of an odd number
 *     the median stays alone.  A pair within the band around the median is
 *     left as it is.  In every other, power goes from the faster to the
 *     slower.  Variant: only the slowest is given any, by all that are not
 *     below the median.
 *
 * How much: if progress is in proportion to the limit, the limits at which
 * two nodes come together are in proportion to limit / progress.  A part of
 * the way there (the gain) is gone at a time.  So a pair whose progress is
 * steeper than in proportion, by up to 2 / gain, comes together, too, instead of
 * swinging; and once all are within the bound the limits stand still.  Noise is
 * taken out of progress before (power_need.h).
 *
 * A node that does not report progress takes no part and keeps its limit.
 * Limits are whole numbers of the actuator's smallest step (a microwatt, a
 * kilohertz), so that their sum is kept exactly.
 */
#ifndef POLICY_POWER_H
#define POLICY_POWER_H

#include "policy/power_rule.h"

#include <stddef.h>

/* Defaults.  The skew of four nodes of which one is 1.6 % slower is 0.00005. */
#define POWER_BOUND 0.00005 /* skew; 0.7 % deviation */
#define POWER_BAND  0.005   /* of the median's progress, both ways */
#define POWER_GAIN  0.8     /* 0..1; stable up to an exponent of 2.5 */

/* Bytes of room that the functions below need, aligned as by malloc(). */
size_t power_bytes(size_t n);

/*
 * The skew of the nodes that report: of the fractions progress / the highest
 * progress.  0 for fewer than two.
 */
double power_skew(const struct power_node node[], size_t n, void *room);

/*
 * One balancing step.  Limits stay within floor and ceiling, and the sum of
 * all n stays exactly what it was, but for POWER_SAVE.  n <= 2^31.
 * O(n log n).
 * Returns how many limits have changed.
 */
size_t power_step(const struct power_rule *rule,
                  struct power_node node[],
                  size_t n,
                  void *room);

#endif
