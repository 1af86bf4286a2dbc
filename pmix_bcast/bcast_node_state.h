/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_node_state.h - what the files of a receiving node share; for them alone.
 *
 *   bcast_node_peers.c  the order, connections, time
 *   bcast_node_talk.c   what peers say and are told
 *   bcast_node_own.c    what was here before: it is told, and passed on
 *   bcast_node_end.c    whole and right, or failed: what home is told
 */
#ifndef PMIX_BCAST_BCAST_NODE_STATE_H
#define PMIX_BCAST_BCAST_NODE_STATE_H

#include "pmix_bcast/bcast_copy.h"
#include "pmix_bcast/bcast_node.h"
#include "pmix_bcast/fabric.h"
#include "pmix_bcast/offload.h"
#include "pmix_bcast/rails.h"
#include "pmix_bcast/relay.h"

#include <event2/event.h>

struct peer { /* another node, or home */
    struct bcast_node *node;
    uint32_t rank; /* PLAN_NOBODY: home */
    /* On which we speak: ours, or the first of theirs, and with ORDER_RAILS
     * further ones by other networks. */
    struct rail rail[RAILS_MAX];
    struct rail other; /* a later one of theirs: we only listen */
    int unreachable;
    int by_network; /* called by one that is meant for data */
    int plain;      /* not to be called so (again) */
    uint32_t told;  /* so many runs of what we had; one more: the end, too */
    int has_told;   /* all that it had ... */
    int lacks;      /* ... and it gets some of what we had from us */
};

struct chunk_run { /* chunks, one after the other */
    uint32_t first, n;
};

enum state { RECEIVING, VERIFYING, FINISHING, DONE, FAILED };

struct bcast_node {
    struct bcast_node_setup s;
    struct bcast_order order; /* what is in the body is not ours: NULL */
    uint32_t self;
    enum state state;
    struct relay *relay;
    struct bcast_copy copy;
    struct fabric *fabric;       /* NULL: all is to go by TCP */
    struct packing *packing;     /* NULL: chunks come as they are */
    struct receivers *receivers; /* NULL: the loop does all of it */
    struct peer home, **peer;    /* by rank; NULL: none yet */
    struct rails rails;          /* of all of them */
    struct event *tick, *verify;
    int tells;             /* nodes say first what they had */
    struct chunk_run *own; /* that were here before; NULL: none */
    uint32_t n_own;
    struct event *take;        /* the next of these are read, and passed on */
    uint32_t taking, taken;    /* the run that is at hand; chunks of it */
    uint32_t waits;            /* times that enough was on its way */
    struct offload *finishing; /* of a tree, in a thread */
    uint32_t waited;           /* seconds for the disk, in it */
    double held_sent;          /* when */
    int some_unreachable;
    uint64_t sum;
    int has_sum;
    uint64_t pulls, refused, duplicates;
    uint32_t cuts; /* of connections to home on which something was said */
    int damaged;   /* one for a chunk that was not what home had */
};

/* Events of a link to a peer (struct link_events); arg is the rail.  ready() and
 * look(), which is check(), run in a thread, too. */
uint8_t *bcast_node_place(struct link *l, void *arg, const struct link_head *h);
uint8_t *bcast_node_ready(void *arg, const struct link_head *h, uint8_t *place);
int bcast_node_look(void *arg, const struct link_head *h, const uint8_t *bytes);
int bcast_node_taken(struct link *l,
                     void *arg,
                     const struct link_head *h,
                     const uint8_t *bytes);
int bcast_node_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at);
int bcast_node_read(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    uint8_t *bytes);
void bcast_node_sent(struct link *l, void *arg, const struct link_head *h);
/* Look which chunks were here before; without memory they come as all do.  And,
 * once peers are called: take them. */
void bcast_node_find_own(struct bcast_node *b);
void bcast_node_take_own(struct bcast_node *b);
void bcast_node_end_own(struct bcast_node *b);
/* The peer has got all that was taken so far. */
void bcast_node_want_own(struct bcast_node *b, const struct peer *p);
/* The next of what a peer, or home, is told of it: 1 and *h, or 0.  And what a
 * peer tells: 0, or -1 if it cannot be. */
int bcast_node_next_have(const struct bcast_node *b,
                         struct peer *p,
                         struct link_head *h);
int bcast_node_heard_have(struct peer *p, const struct link_head *h);
/* Home is told why: an errno value, 0 if text says it all. */
void bcast_node_fail(struct bcast_node *b, int error, const char *text);
/* Likewise, of the copy, which may say more than its errno value. */
void bcast_node_fail_copy(struct bcast_node *b, int why);
/* Who reads this chunk (LINK_EACH: any) reads it into the copy no more. */
void bcast_node_forget_places(struct bcast_node *b, uint32_t chunk);
/* Perhaps it is whole now, and its sum is known: verified, if that was asked for,
 * and finished. */
void bcast_node_check(struct bcast_node *b);
void bcast_node_finish(struct bcast_node *b);
void bcast_node_stop_finishing(struct bcast_node *b);
/* The event of b->verify. */
void bcast_node_on_verify(evutil_socket_t fd, short what, void *arg);

#endif
