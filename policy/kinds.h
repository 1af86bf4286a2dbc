/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kinds.h - all policies that there are.
 *
 * This is the one list of them: the configuration, --policy and its help, the
 * simulator, completions and tests go through it.  A new policy is a file that
 * defines a struct policy_kind, and its line in kinds.c.
 */
#ifndef POLICY_KINDS_H
#define POLICY_KINDS_H

#include "policy/policy.h"

#define KINDS_MAX     32     /* there are fewer; for callers' arrays */
#define KINDS_DEFAULT "even" /* the name of the first */

/* The i-th policy, the default first; NULL past the end. */
const struct policy_kind *kinds_at(size_t i);

/* The policy of that name, or NULL. */
const struct policy_kind *kinds_find(const char *name);

/* The i of kinds_at(); kind is one of them. */
size_t kinds_place(const struct policy_kind *kind);

#endif
