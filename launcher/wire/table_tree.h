/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_tree.h - passes down a tree of the agents what all are to have, so that
 * the front end need not send N messages: first the table of their endpoints
 * (wireup.h, N lines each), then its orders (order_message.h).
 *
 * The front end is the root.  Its children are the ranks 0 to k-1; those of
 * rank r are k(r+1) to k(r+1)+k-1.  Each agent listens at its door; there its
 * parent connects and sends the FENCE or RELAY that it got itself.  If a child
 * does not take the table, the front end sends it; what becomes of orders is
 * for the front end to see.  A connection to a child is kept for the next order
 * and closed when none has come for a while.
 *
 * All callbacks come from the event loop.
 */
#ifndef LAUNCHER_WIRE_TABLE_TREE_H
#define LAUNCHER_WIRE_TABLE_TREE_H

#include "launcher/wire/order_message.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/channel.h"

/* Up to so many agents fetch all endpoints from PMIx, where it is there: then
 * there is no table, and until they have fetched them no tree. */
#define TABLE_FETCH_MAX 64u
/* Children of an agent.  The tree of 16,384 agents is five levels deep. */
#define TABLE_BRANCHES 8u

/* Branches of the tree that the table of so many agents goes down; 0: there is
 * none, the front end tells each that all are here. */
uint32_t table_branches(uint32_t agents, int by_tcp);
/* The first child of a rank; there is no such agent if it is not below their
 * number. */
uint64_t table_first_child(uint32_t branches, uint32_t rank);

struct table_tree;

struct table_tree_events {
    /* The parent has sent the body of a FENCE.  0, or -1 if the agent cannot
     * take it. */
    int (*receive)(void *arg, const uint8_t *body, size_t len);
    /* Likewise of a RELAY. */
    int (*order)(void *arg, const uint8_t *body, size_t len);
    /* A child has not taken the table, or cannot be reached. */
    void (*missed)(void *arg, uint32_t rank);
    /* The last that was on its way to a child has gone, or cannot; may be
     * NULL. */
    void (*passed)(void *arg);
};

struct table_tree_setup {
    struct event_base *base;
    const struct secret *secret;
    uint32_t branches;          /* of the tree that orders go down */
    struct port_range ports;    /* to listen at */
    const struct listen_at *at; /* of the agents; used during the call */
    const struct table_tree_events *on;
    void *arg;
};

/* Listen for the parent; secret, on and arg must outlive the tree. */
int table_tree_open(struct table_tree **t,
                    const struct table_tree_setup *setup,
                    struct es_error *err);
/* Our rank, which is known only now.  The front end's own children need no
 * door. */
void table_tree_set_self(struct table_tree *t, uint32_t self);
/* The port at which we listen; 0: not at all. */
uint16_t table_tree_door(const struct table_tree *t);
/* Send the table's body to the children of w's rank, and from now on orders to
 * those that w knows: it must outlive the tree. */
void table_tree_pass(struct table_tree *t,
                     const struct wireup *w,
                     uint32_t branches,
                     const uint8_t *body,
                     size_t len);
/* Send an order to the children of w's rank, each the part of it that is for
 * those below; likewise. */
void table_tree_order(struct table_tree *t,
                      const struct wireup *w,
                      const struct msg_relay *m,
                      const uint8_t *body,
                      size_t len);
/* Is anything on its way to a child, and not yet with the kernel? */
int table_tree_is_passing(const struct table_tree *t);
/* End all connections: what comes at the door is for another front end. */
void table_tree_forget(struct table_tree *t);
/* NULL is allowed.  May be called from any callback but those of the tree. */
void table_tree_close(struct table_tree *t);

#endif
