/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rl2.h - JPPF's rl2: try sizes at random, then use the best.
 *
 * Every node tries sizes up to a part of the job until it knows enough of them,
 * then ever more often takes the one with the least mean time per task.  A
 * sudden slow-down empties its table.
 *
 * Tied states are listed in the order of their last update, and a smaller job
 * drops them by key.
 */
#ifndef POLICY_RL2_H
#define POLICY_RL2_H

#include "policy/policy.h"

extern const struct policy_kind rl2_kind;

#endif
