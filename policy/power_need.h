/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_need.h - what nodes need, over several rounds: limits that are steered
 * by it do not follow the noise of each.
 *
 * Pure.  What a node needs is limit / progress; of all of them together only how
 * they differ counts, so what is common to a round (its unit, an iteration that
 * is longer) is left out.  It is the mean of the rounds so far, the last ones of
 * which count more.  It begins anew
 *
 *  - as far as the limit is away from what it was in these rounds, as progress
 *    need not be in proportion to it: from 10 % on, and so while limits are still
 *    far off, only the last round counts;
 *  - where two rounds one after the other are off to the same side by more than
 *    twice what is usual: the program has changed.
 *
 * The mean is a logarithmic one.
 */
#ifndef POLICY_POWER_NEED_H
#define POLICY_POWER_NEED_H

#include "policy/power_rule.h"

#include <stddef.h>

struct power_need { /* all zero: nothing is known */
    double need;    /* logarithm, and that of the limits: */
    double at;
    double weight; /* rounds that these are the means of */
    double spread; /* mean deviation of a round */
    int side;      /* of it, where the last round was far off: -1, 1; else 0 */
};

/*
 * A round has ended: replaces the progress of each node that reports, and has a
 * limit, by what it would be by its need.  The unit of progress may be another
 * than in the round before.  O(n).
 */
void power_need_steady(struct power_need need[],
                       struct power_node node[],
                       size_t n);

#endif
