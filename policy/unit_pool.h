/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_pool.h - the units of a frame that no node holds: what a lost node had
 * not finished, what failed, or, for a bundle policy, what was never sent.
 *
 * Batches stand by their begin and never overlap.  Pure but for allocation.
 */
#ifndef POLICY_UNIT_POOL_H
#define POLICY_UNIT_POOL_H

#include "policy/shares.h"

struct batch {
    struct slice units;
    unsigned attempts; /* that were made at them, in vain */
    unsigned failures; /* of these, by the command itself */
    unsigned forgiven; /* of these, those that count no more: failure.h */
};

struct unit_pool { /* all zero is an empty one */
    struct batch *batch;
    size_t n, cap;
    uint64_t units; /* in all batches */
};

void unit_pool_clear(struct unit_pool *p); /* gives its memory back */
void unit_pool_empty(struct unit_pool *p); /* keeps it */
/* Room for n batches in all: adding so many cannot fail then.  0, or -1 if
 * memory ran out. */
int unit_pool_reserve(struct unit_pool *p, size_t n);
/* Put a batch in, which overlaps none; an empty one is nothing.  0, or -1 if
 * memory ran out. */
int unit_pool_add(struct unit_pool *p, const struct batch *b);
/* Take units off the front of the i-th batch, at most what it has. */
struct batch unit_pool_take(struct unit_pool *p, size_t i, uint64_t units);

#endif
