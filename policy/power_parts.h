/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_parts.h - a node's limit, divided over its parts: the ranks that run on
 * cores of their own, or the packages.
 *
 * Pure.  The levels core and processor of US 9,477,533.  The parts are balanced
 * by power_step(), as nodes are; what all of them may have together is given by
 * the node's limit, and is had to the last unit.
 */
#ifndef POLICY_POWER_PARTS_H
#define POLICY_POWER_PARTS_H

#include "policy/power.h"

#define PARTS_MAX      256  /* ranks of a node on cores of their own */
#define PART_TASKS_MAX 1024 /* that share them, as ranks do packages */
#define PART_NONE      UINT32_MAX
#define PART_COUNT_MAX 65536 /* CPUs of a part; more than any node has */

struct power_part {
    uint64_t least, most; /* 1 <= least <= most <= POWER_LIMIT_MAX */
    uint32_t count; /* of its cores, if each may have the node's limit; 0: the
                       limit is shared by all parts */
};

/* Is it within these bounds? */
int power_part_is_valid(const struct power_part *part);

/* What the parts may have together under a limit of the node. */
uint64_t power_parts_budget(const struct power_part part[],
                            size_t n,
                            uint64_t limit);

/* May the parts have these limits under a limit of the node?  Each must be
 * within its bounds, and all within the budget. */
int power_parts_allowed(const struct power_part part[],
                        size_t n,
                        uint64_t limit,
                        const uint64_t wanted[]);

/*
 * The floors and ceilings of the parts.  Of a node that may not go below a part
 * of its ceiling no part may, either.  -1 if n is 0 or the floors are above
 * the budget: then the node cannot be divided.
 */
int power_parts_bounds(const struct power_part part[],
                       size_t n,
                       uint64_t budget,
                       double lowest,
                       struct power_node node[]);

/*
 * Set the limits so that their sum is the budget, or all are at their ceilings.
 * They stay in the proportion in which they are, as far as the bounds of
 * power_parts_bounds() allow; limits of 0 are begun with in proportion to the
 * ceilings.  O(n).
 */
void power_parts_divide(struct power_node node[], size_t n, uint64_t budget);

#endif
