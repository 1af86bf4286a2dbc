/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pull.h - what a node asks for next, and whom, in two ways.  Pure.
 *
 * Both choose at random among the nodes that should have a chunk by now (see
 * estimator.h), so that no node is asked by all.  (CN 102486739.)
 */
#ifndef PMIX_BCAST_PULL_H
#define PMIX_BCAST_PULL_H

#include "pmix_bcast/estimator.h"

enum pull_way {                    /* in an order, too: see bcast_message.h */
                PULL_BY_CHUNK = 0, /* way A: first the chunk, then who has it */
                PULL_BY_NODE =
                    1, /* way B: first the node, then which of its chunks */
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
