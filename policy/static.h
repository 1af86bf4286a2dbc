/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * static.h - the static split: equal slices whatever the nodes can do.
 *
 * There to be compared with.  It looks at no metric and no time; only nodes
 * that leave change it, as their share must go somewhere.
 */
#ifndef POLICY_STATIC_H
#define POLICY_STATIC_H

#include "policy/policy.h"

extern const struct policy_kind static_kind;

#endif
