/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.h - the slots of a session's nodes, in a row: what decides (policy/)
 * takes each for a node.  Slots of one node adjoin; their numbers may differ
 * from node to node.
 */
#ifndef LAUNCHER_RUN_SLOTS_H
#define LAUNCHER_RUN_SLOTS_H

#include "policy/metric.h"

#include <stddef.h>
#include <stdint.h>

struct slots {
    size_t n;      /* of all nodes, at least 1 */
    size_t nodes;  /* at least 1 */
    size_t *node;  /* one a slot: its node */
    size_t *group; /* likewise: the first slot of its node; below n */
    size_t *first; /* nodes + 1: the first slot of each, and n */
};

/* each: one a node, of which one is not 0; NULL: each has one.  0, or -1 if
 * memory ran out. */
int slots_init(struct slots *s, size_t nodes, const uint32_t each[]);
void slots_clear(struct slots *s); /* {0} is allowed */
size_t slots_of(const struct slots *s, size_t node);
/* The slot's number on its node, from 0. */
uint32_t slots_number(const struct slots *s, size_t slot);
/* The nodes' metrics (one a node) as those of slots (n), among which a node is
 * divided. */
void slots_metrics(const struct slots *s,
                   const struct metric node[],
                   struct metric slot[]);

#endif
