/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - the influence profiles that are shipped: how much each core
 * element matters to a kind of work.
 *
 * JL counts an influence twice, in CU and beside it (metric.h, steps 6 and 7).
 * So what an element weighs is its influence squared: 0.6 against 0.2 is nine
 * to one, and an element of 0.1 does no more than decide between equals.
 */
#ifndef POLICY_PROFILE_H
#define POLICY_PROFILE_H

#include "policy/metric.h"

#define INFLUENCE_MAX 1 /* of one element; only their proportion counts */

struct named_profile {
    const char *name;
    struct profile profile;
    const char *help; /* one line: the work that it is for */
};

/* The i-th profile, the default first; NULL past the end. */
const struct named_profile *profile_at(size_t i);

/* All influences together; a profile with a sum of 0 can rank nobody. */
double profile_sum(const struct profile *p);

#endif
