/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * level.h - water filling: the time at which all nodes end together, when each
 * does one piece more.
 *
 * Node i is free at free[i] and then does n units in
 *
 *   wait + (burn + each * n) / speed[i]
 *
 * seconds (cost.h).  The level is the least T at which the parts
 *
 *   max(0, ((T - free[i] - wait) * speed[i] - burn) / each)
 *
 * add up to the units.  So one that would end late by starting alone gets nothing; one
 * whose starts wait longer than others' (cost_lag()) is as one that is free so much
 * later.  Pure, no allocation.
 */
#ifndef POLICY_LEVEL_H
#define POLICY_LEVEL_H

#include "policy/cost.h"

/*
 *   free   n values, seconds
 *   speed  n values, >= 0; 0 gets nothing, one of them is > 0
 *   terms  each > 0
 *   units  > 0
 *
 * Exact to rounding; O(n log n) at most, with no more than a few passes over
 * the nodes in practice.
 */
double level_find(const double free[],
                  const double speed[],
                  size_t n,
                  const struct cost_terms *terms,
                  double units);
/* The part of a node that is free at `free`, at that level: >= 0. */
double level_part(double level,
                  double free,
                  double speed,
                  const struct cost_terms *terms);

#endif
