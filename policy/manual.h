/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manual.h - JPPF's manual: bundles of one size.
 *
 * Neither the job nor what comes back changes it.
 */
#ifndef POLICY_MANUAL_H
#define POLICY_MANUAL_H

#include "policy/policy.h"

extern const struct policy_kind manual_kind;

#endif
