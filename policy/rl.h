/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rl.h - JPPF's rl: a step up or down by what the last one did.
 *
 * Every node goes on in the direction that made its moving average shorter and
 * turns round where it grew; after a quiet step it always goes down, and so it
 * sinks to bundles of 1.  Deterministic.
 */
#ifndef POLICY_RL_H
#define POLICY_RL_H

#include "policy/policy.h"

extern const struct policy_kind rl_kind;

#endif
