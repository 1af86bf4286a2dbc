/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_levels.h - steer power level by level: between racks, between the
 * nodes of each rack, their sockets, the cores of each socket.
 *
 * Pure.  US 9,477,533 has the same step at every level; what stands for a group
 * is either the slowest of its members or their mean.  So:
 *
 *  up:   a group's limit, floor and ceiling are the sums of its members', the
 *        ceiling at most the group's budget; its progress is their aggregate.
 *  down: first the step of power.h is taken between the groups.  What a group
 *        has got or given is shared among its members in proportion to what
 *        they have, as far as floors and ceilings let it.  Then the same step
 *        is taken within each group, and so on down.
 *
 * What is given to one is taken from others of the same group: the sum stays
 * exactly the same in every group that is not itself given any, and of all.
 *
 * The mean is weighted by the limits and harmonic,
 *
 *   sum of limits / sum of (limit / progress),
 *
 * which is what the group makes once it is balanced within.  The slowest stands
 * for a group that nobody balances within.
 *
 * What does not report has no part in any of it, nor has a group without one
 * that does; it keeps its limit, and its group so much less of its budget.
 */
#ifndef POLICY_POWER_LEVELS_H
#define POLICY_POWER_LEVELS_H

#include "policy/aggregate.h"
#include "policy/power.h"

struct power_level {
    size_t n; /* members, of all groups together */
    /* n.  Of the lowest level they are the caller's; of those above, limit,
     * floor and ceiling are the sums of what reports, made by the step. */
    struct power_node *node;
    /* n + 1: member i is the group of first[i] .. first[i + 1] - 1 of the level
     * below, first[0] = 0, first[n] = its n.  NULL: the lowest. */
    const uint32_t *first;
    const uint64_t
        *budget;        /* n, the most of each; 0: none.  NULL: no budgets */
    enum aggregate how; /* of a group: AGGREGATE_MIN, else AGGREGATE_MEAN */
    int is_steered;     /* between the members of a group */
};

/* Bytes of room that a step needs, aligned as by malloc(). */
size_t power_levels_bytes(const struct power_level *level, size_t levels);

/*
 * One step of all levels, level[0] the lowest.  At first all limits must be
 * within floors, ceilings and budgets, and so they are afterwards; a group
 * above its budget is given nothing.  The progress of a member is made to fit
 * what its group was given.  O(n log n) within groups.  All limits together are
 * at most POWER_LIMIT_MAX.
 * Returns how many limits the steps of all levels have changed; 0: none at all.
 */
size_t power_levels_step(const struct power_rule *rule,
                         struct power_level level[],
                         size_t levels,
                         void *room);

/*
 * Lower the limits of the lowest level until every budget holds, as far as its
 * floors let it, whoever reports.  Returns how many groups stay above their
 * budget, because their floors are.
 */
size_t power_levels_fit(struct power_level *level, size_t levels);

#endif
