/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rails.h - several connections to one peer, each by a network of its own: which
 * of them takes the next chunk.
 *
 * That by which it is there first: where all that waits at our end of that
 * network, for whomever it is, and the chunk itself take the least time, at the
 * rate at which that network took what waited there.  Until this has been seen of
 * all of them they are as fast as the system says, if it says so of all, or else
 * equal.  One that takes nothing of what waits on it, as its network is broken,
 * gets no more until it does.
 */
#ifndef PMIX_BCAST_RAILS_H
#define PMIX_BCAST_RAILS_H

#include "pmix_bcast/link.h"
#include "pmix_bcast/network.h"

#include <sys/queue.h>

#define RAILS_MAX 4u /* to one peer */

struct rail {
    LIST_ENTRY(rail) next; /* of those that are in use */
    struct link *link;     /* NULL: none */
    void *peer;            /* the owner's: to whom */
    uint32_t network;      /* which of ours; NETWORKS_MAX: none of them */
    uint8_t *buffer;       /* the owner's: for the chunk that comes */
    struct seal *seal;     /* the owner's: to check it in a thread; or NULL */
    uint64_t gone;         /* bytes sent and acknowledged at the last look */
    double moved;          /* when these became more, or nothing waited */
    int hello_due;         /* the owner's: nothing was said on it yet */
    uint32_t sending;      /* the owner's: a chunk, or PLAN_NOBODY */
};

struct rail_rate {  /* of a network */
    uint64_t ended; /* bytes sent by connections that are no more */
    uint64_t gone;  /* and by all of them, but what waited, at the last look */
    int was_busy;   /* then */
    double seen;    /* bytes a second; 0: not known */
};

struct rails { /* to all peers */
    LIST_HEAD(rail_list, rail) first;
    const struct networks *mine;
    double looked, woken; /* when */
    struct rail_rate network[NETWORKS_MAX + 1];
};

struct rail_load {
    int is_open;    /* and takes something */
    uint64_t waits; /* bytes at that interface */
    double seen;    /* its rate; 0: not known */
    uint32_t mbps;  /* what the system says of it; 0: nothing */
};

/* Which of n is done first with size bytes more; n if none is open.  Pure. */
unsigned rails_best(const struct rail_load *rail, unsigned n, uint32_t size);

/* mine: this process's networks, which must outlive it. */
void rails_init(struct rails *all, const struct networks *mine);
/* From now on it goes by this connection, called or taken; and no more, which
 * does not end the connection. */
void rail_begin(struct rails *all, struct rail *r, struct link *l);
void rail_end(struct rails *all, struct rail *r);
/*
 * One of a peer's RAILS_MAX asks for what it is to send: is it its turn?  If not,
 * that whose turn it is will ask.
 */
int rails_turn(struct rails *all,
               const struct rail *of_peer,
               const struct rail *asks,
               uint32_t size);
/* Each has its turn again, as the one that was to go first may be stuck: to be
 * called every few ms. */
void rails_tick(struct rails *all);
/* Is any of a peer's RAILS_MAX open?  Wake them all. */
int rails_open(const struct rail *of_peer);
void rails_wake(const struct rail *of_peer);

#endif
