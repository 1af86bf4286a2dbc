/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_steering.h - the actuator "slice": which nodes give units of their
 * slices away, before the others have nothing left to do.
 *
 * Pure.  The balancing step of power.h, with units in place of power and the
 * time that is left in place of progress: whoever has the longest way to go is
 * paired with whoever has the shortest, and gives so much that both come in
 * together.  US 9,477,533 names a task's share of the work beside its power.
 */
#ifndef POLICY_SLICE_STEERING_H
#define POLICY_SLICE_STEERING_H

#include "policy/power.h"
#include "policy/tail.h"

/*
 *   node   n; one whose speed is not known takes no part
 *   grain  >= 1
 *   give   n results: units to take off the end of what waits there, in whole
 *          grains
 *   power  n, and room power_bytes(n): workspace
 *
 * Returns how many nodes give.  O(n log n).
 */
size_t slice_steering_step(const struct power_rule *rule,
                           const struct tail_node node[],
                           size_t n,
                           uint64_t grain,
                           uint64_t give[],
                           struct power_node power[],
                           void *room);

#endif
