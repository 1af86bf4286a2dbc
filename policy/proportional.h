/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proportional.h - JPPF's proportional: bundles in proportion to speed.
 *
 * Every node has a moving average of its time per task.  Each result sizes the
 * bundles of all nodes anew, in proportion to 1 / average^factor, so that one
 * round of bundles is the whole job; the fastest node gets what rounding left.
 * So it also sizes whole slices.
 *
 * Unlike JPPF: nodes are registered in the order of their index, also one that
 * has left and joined again.
 */
#ifndef POLICY_PROPORTIONAL_H
#define POLICY_PROPORTIONAL_H

#include "policy/policy.h"

extern const struct policy_kind proportional_kind;

#endif
