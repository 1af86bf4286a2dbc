/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_save.h - the same barrier time with the least power: the nodes that
 * wait for others are given less, and nobody more than at the start.
 *
 * Pure.  The barrier falls when the last node comes, so the pace is that of
 * the node that would be last if none were limited.  Every other node needs no
 * more power than lets it come just before (the margin).
 *
 *  1. The pace is that of the slowest of those at their ceilings: they do what
 *     they can.  (If there are none: the least of what each would do there, as
 *     in proportion to its limit.)
 *  2. A node ahead of the pace by more than the margin goes down a part of the
 *     way to it (the gain).  One that is behind goes up the whole way, to its
 *     ceiling if need be, and may so be the slowest of the next step.
 *  3. In between nothing is changed.
 */
#ifndef POLICY_POWER_SAVE_H
#define POLICY_POWER_SAVE_H

#include "policy/power_rule.h"

#include <stddef.h>

/* A node comes so much before the last one, of its progress. */
#define POWER_SAVE_MARGIN 0.01

/*
 * One step.  The ceiling of a node is its limit at the start: so the sum of the
 * limits never exceeds that of the start.  The rule's gain counts only.  O(n).
 * Returns how many limits have changed.
 */
size_t power_save_step(const struct power_rule *rule,
                       struct power_node node[],
                       size_t n);

#endif
