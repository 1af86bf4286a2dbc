/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pull.h - what a node asks for next, and whom, in three ways.  Pure.
 *
 * All ask for what a node should have by now (see estimator.h).  Two choose it
 * by lot, so that no node is asked by all; by turn, no two nodes that are at the
 * same time ask the same one.  (CN 102486739 has "random or other choices".)
 */
#ifndef PMIX_BCAST_PULL_H
#define PMIX_BCAST_PULL_H

#include "pmix_bcast/estimator.h"

/* In an order, too: see bcast_message.h. */
enum pull_way {
    PULL_BY_TURN = 0, /* in the T-th time of a chunk a node of branch i asks the
                          one in its own place of branch i + T */
    PULL_BY_CHUNK = 1, /* way A: first a chunk, then by lot who has it */
    PULL_BY_NODE = 2, /* way B: first a node by lot, then which of its chunks */
};

enum hold { CHUNK_MISSING, CHUNK_ASKED, CHUNK_HELD };

/* What is known of a node.  Only those that are PRESENT are asked. */
enum peer_presence {
    PRESENT,
    GONE,
    SUSPECT, /* left a request without an answer; until it sends anything, or
                nobody else is left */
};

struct pull {
    uint32_t chunk, node;
};

/* What a choice depends on. */
struct pull_view {
    const struct plan *plan;
    const struct estimator *estimator;
    const uint8_t *hold;     /* enum hold of each chunk */
    const uint8_t *presence; /* enum peer_presence of each node */
    uint32_t self;
    double now;
    uint64_t *random; /* state of the generator; any number but 0 */
};

uint64_t pull_random(uint64_t *state);
/* Choose a chunk that is not pushed to self, and a node.  Returns 1 with
 * *choice, or 0 if nobody is likely to have one by now. */
int pull_choose(struct pull *choice,
                const struct pull_view *v,
                enum pull_way way);
/* Choose a node for the chunk of *choice, pushed or not; likewise. */
int pull_choose_node(struct pull *choice, const struct pull_view *v);

#endif
