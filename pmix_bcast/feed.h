/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feed.h - home's part in a broadcast: to which node of the first layer the
 * next chunk goes.  Pure.
 *
 * Every chunk leaves home about once.  It goes to the root of its tree.  If
 * that one lags (it has been given more than it has passed on) or has stopped,
 * the chunk goes to the node with the least to do.  What a silent or lost node
 * was given is given to another.
 *
 * A root that had chunks before (LINK_HAVE) passes them on by itself; for these
 * home has nothing to do but to make their tags.
 */
#ifndef PMIX_BCAST_FEED_H
#define PMIX_BCAST_FEED_H

#include "pmix_bcast/plan.h"

struct feed;

struct feed_give {
    uint32_t chunk, node;
    int as_root;  /* to another than the tree's root, see relay.h */
    int is_there; /* it has it: nothing is to be sent */
};

/* start: now, in seconds of the caller's clock; NULL if memory ran out. */
struct feed *feed_create(const struct plan *p, uint64_t random, double start);
void feed_destroy(struct feed *f);

/* Something has happened to a node; those above plan_used() do not matter. */
void feed_connected(struct feed *f, uint32_t node, double now);
void feed_lost(struct feed *f, uint32_t node);
/* One of several connections to it broke, and what was on it is given again. */
void feed_again(struct feed *f, uint32_t node);
void feed_relayed(struct feed *f, uint32_t node, uint32_t chunk, double now);
/* So many chunks from first on it has, and passes on where it is their root. */
void feed_has(struct feed *f, uint32_t node, uint32_t first, uint32_t n);
/* Chunks that it was given, and has not passed on. */
uint32_t feed_given(const struct feed *f, uint32_t node);
/* So many bytes for the node wait here and in the kernel. */
void feed_queued(struct feed *f, uint32_t node, uint64_t bytes);

/* The next to send, if any may be sent now: 1 and *g, or 0. */
int feed_next(struct feed *f, struct feed_give *g, double now);
/* Look for nodes that are silent: about every 10 ms. */
void feed_tick(struct feed *f, double now);
/* Everything has been given and passed on. */
int feed_is_done(const struct feed *f);

/*
 * How many bytes may wait in the kernel for all nodes together, so that the
 * choice is made late: what the link carries in some ms.  Grows as the rate
 * shows.
 */
uint64_t feed_budget(const struct feed *f);
/* The sum of what feed_queued() was given.  One node counts for a third of the
 * budget at most, so that one that takes nothing does not stop all. */
uint64_t feed_waiting(const struct feed *f);

#endif
