/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relay.h - a receiving node's part in a broadcast: what it passes on, what
 * it pulls, whom it answers.  Pure: the caller says what has come and what
 * the time is, and asks for each peer what to send next.
 *
 * A chunk from home or the parent goes to the children in the chunk's tree.
 * A node pulls only what its trees do not bring: in PLAN_BRANCHES all chunks
 * of other branches, in PLAN_STRIPES what is overdue while its own link is
 * idle.  No answer is waited for without an end.
 *
 * as_root: home gave the chunk to another than the tree's root, whose place
 * this node takes for it; the root itself becomes one of its children.
 */
#ifndef PMIX_BCAST_RELAY_H
#define PMIX_BCAST_RELAY_H

#include "pmix_bcast/outbox.h"
#include "pmix_bcast/pull.h"

#include <stddef.h>

struct relay;

struct relay_setup {
    const struct plan *plan; /* must outlive the relay */
    uint32_t self;
    enum pull_way way;
    int strict;      /* while it serves its children a node neither asks nor
                        answers; CN 102486739 prefers it */
    double start;    /* now */
    double slot;     /* see estimator_init() */
    uint64_t random; /* a seed, not 0 */
    /* There is something for peer (PLAN_NOBODY: home) again: relay_next()
     * had returned 0 for it, or was never asked.  Must not call a function
     * of the relay: it is in the middle of something. */
    void (*wake)(void *arg, uint32_t peer);
    void *arg;
};

/* NULL if memory ran out. */
struct relay *relay_create(const struct relay_setup *s);
void relay_destroy(struct relay *r);
/* Peers are called only now: from here on it is known how long chunks take, unless
 * one has come before. */
void relay_begin(struct relay *r, double now);

/* Must the bytes of a chunk that is about to come be kept? */
int relay_wants(const struct relay *r, uint32_t chunk);
/* A chunk is whole and stored.  peer: from whom, PLAN_NOBODY is home. */
void relay_got(
    struct relay *r, uint32_t peer, uint32_t chunk, int as_root, double now);
/* So many chunks from first on were here before the broadcast: nobody is asked
 * for them.  Then each is read and relay_has() it: it goes to our children. */
void relay_expects(struct relay *r, uint32_t first, uint32_t n);
void relay_has(struct relay *r, uint32_t chunk, double now);
/* Likewise a peer's: they are not pushed to it. */
void relay_peer_has(struct relay *r, uint32_t peer, uint32_t first, uint32_t n);
/* Is it pushed the chunk by us, unless it had it? */
int relay_serves(const struct relay *r, uint32_t peer, uint32_t chunk);
/* There is nothing for the peer at the moment. */
int relay_is_idle(struct relay *r, uint32_t peer);
void relay_asked(struct relay *r, uint32_t peer, uint32_t chunk);
void relay_absent(struct relay *r, uint32_t peer, uint32_t chunk, double now);
void relay_cancelled(struct relay *r, uint32_t peer, uint32_t chunk);
/* A chunk that relay_next() gave out is with the kernel; only then may it be
 * asked for that peer's next but OUTBOX_AT_ONCE - 1. */
void relay_sent(struct relay *r, uint32_t peer, uint32_t chunk, double now);
/* Or it is not, as one of several connections to that peer broke: it goes by
 * another. */
void relay_unsent(struct relay *r, uint32_t peer, uint32_t chunk, double now);
/* A peer is lost, or cannot be reached; it is not asked again. */
void relay_lost(struct relay *r, uint32_t peer);
/* Look whether something must be pulled: every RELAY_TICK s. */
#define RELAY_TICK 0.002
void relay_tick(struct relay *r, double now);

/* What to send to peer next: 1 and *item, or 0. */
int relay_next(struct relay *r, uint32_t peer, struct relay_item *item);

uint32_t relay_missing(const struct relay *r); /* chunks */
int relay_holds(const struct relay *r, uint32_t chunk);

#endif
