/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outbox.h - what a node of a broadcast has to send, and to whom.  Pure.
 *
 * For each peer: chunks that it gets from us by a tree, chunks that it has
 * asked for, and short messages.  The relay (relay.h) decides what goes in.
 */
#ifndef PMIX_BCAST_OUTBOX_H
#define PMIX_BCAST_OUTBOX_H

#include "pmix_bcast/plan.h"

#include <stddef.h>

#define OUTBOX_AT_ONCE 4u /* chunks on their way to the kernel for one peer */

enum relay_kind {
    RELAY_CHUNK,   /* the chunk's bytes */
    RELAY_PULL,    /* ask for it */
    RELAY_ABSENT,  /* "not here" */
    RELAY_CANCEL,  /* do not send it any more */
    RELAY_RELAYED, /* to home: enough others have got it from us */
};

struct relay_item {
    enum relay_kind kind;
    uint32_t chunk;
};

struct outbox_setup {
    const struct plan *plan;
    uint32_t self;
    const uint8_t *presence; /* of each node, see pull.h: none is sent to one
                                that is GONE */
    /* See struct relay_setup. */
    void (*wake)(void *arg, uint32_t peer);
    void *arg;
};

struct outbox { /* for outbox.c alone but for unsent */
    struct outbox_setup s;
    struct lane *lane;
    size_t n_lanes, lanes_room;
    struct entry *log;
    uint32_t n_log;
    size_t log_room;
    uint32_t unsent;  /* copies in the log that are still to be sent */
    uint32_t *report; /* chunks that home is to be told are relayed */
    uint32_t n_report, reported;
    size_t report_room;
    uint8_t **has; /* of each node: bits of the chunks that it had; or NULL */
};

/* The setup's pointers must outlive it; -1 if memory ran out. */
int outbox_init(struct outbox *o, const struct outbox_setup *setup);
void outbox_clear(struct outbox *o);

/* A message of any kind but CHUNK and RELAYED.  Without memory, or room for
 * more than a peer has reason for, it is dropped: a pull expires, a cancelled
 * chunk comes twice. */
void outbox_tell(struct outbox *o,
                 uint32_t peer,
                 enum relay_kind kind,
                 uint32_t chunk);
/* Home is told RELAYED. */
void outbox_report(struct outbox *o, uint32_t chunk);
/* A chunk that came from a node (PLAN_NOBODY: home) goes to its children here,
 * as_root also to those of its root and to that; home is told once enough of
 * them have it. */
void outbox_push(struct outbox *o, uint32_t from, uint32_t chunk, int as_root);
/* A chunk that peer has asked for. */
void outbox_answer(struct outbox *o, uint32_t peer, uint32_t chunk);
/* The peer has the chunk by now. */
void outbox_cancel(struct outbox *o, uint32_t peer, uint32_t chunk);
/* The peer has had so many from first on before the broadcast: none of them is
 * pushed to it.  Without memory they are. */
void outbox_peer_has(struct outbox *o,
                     uint32_t peer,
                     uint32_t first,
                     uint32_t n);
int outbox_peer_had(const struct outbox *o, uint32_t peer, uint32_t chunk);
/* A pushed chunk that outbox_next() gave out is with the kernel: 1, or 0 if it
 * was an answer. */
int outbox_sent(struct outbox *o, uint32_t peer, uint32_t chunk);
/* The peers that wait for an answer may get it again. */
void outbox_wake_answers(struct outbox *o);
/* What to send next: 1 and *item, or 0; chunks that were asked for only if
 * may_answer. */
int outbox_next(struct outbox *o,
                uint32_t peer,
                int may_answer,
                struct relay_item *item);
/* outbox_next() has said 0, and nothing has come since. */
int outbox_is_idle(struct outbox *o, uint32_t peer);
/* The peer is lost: nothing of this is for it any more. */
void outbox_lost(struct outbox *o, uint32_t peer);

#endif
