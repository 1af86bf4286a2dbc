/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * underway.h - how much of what is not back yet has probably been done: for
 * people who wait, not for decisions.  Pure.
 */
#ifndef POLICY_UNDERWAY_H
#define POLICY_UNDERWAY_H

#include "policy/dispatch.h"

/*
 * Units of the pieces that nodes work at, as their meters tell or, without
 * them, by what a piece costs (dispatch_cost()) and how long it runs.  No piece
 * is taken for done before it is back.  0 where neither is known.  O(n).
 */
double underway_units(const struct dispatch *d, double now);

#endif
