/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_tree.h - passes the table of all agents' endpoints (wireup.h) down a
 * tree of the agents, so that the front end need not send N tables of N lines.
 *
 * The front end is the root.  Its children are the ranks 0 to k-1; those of
 * rank r are k(r+1) to k(r+1)+k-1.  Each agent listens at its door, a port that
 * is open during the start only.  There its parent connects and sends the FENCE
 * that it got itself.  If a child does not take it, the front end sends it the
 * table.
 *
 * All callbacks come from the event loop.
 */
#ifndef LAUNCHER_WIRE_TABLE_TREE_H
#define LAUNCHER_WIRE_TABLE_TREE_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/channel.h"

/* Up to so many agents get the table from the front end itself, or fetch all
 * endpoints from PMIx: 64 tables of 64 lines are some 130 KB. */
#define TABLE_DIRECT_MAX 64u
/* Children of an agent.  The tree of 16,384 agents is five levels deep. */
#define TABLE_BRANCHES 8u

/* Branches of the tree for so many agents; 0: there is none, the front end
 * sends the table to each. */
uint32_t table_branches(uint32_t agents);
/* The first child of a rank; there is no such agent if it is not below their
 * number. */
uint64_t table_first_child(uint32_t branches, uint32_t rank);

struct table_tree;

struct table_tree_events {
    /* The parent has sent the body of a FENCE.  0, or -1 if the agent cannot
     * take it. */
    int (*receive)(void *arg, const uint8_t *body, size_t len);
    /* A child has not taken it, or cannot be reached. */
    void (*missed)(void *arg, uint32_t rank);
};

struct table_tree_setup {
    struct event_base *base;
    const struct secret *secret;
    uint32_t self;           /* our rank */
    struct port_range ports; /* to listen at */
    enum loopback loopback;
    const struct table_tree_events *on;
    void *arg;
};

/* Listen for the parent; secret, on and arg must outlive the tree. */
int table_tree_open(struct table_tree **t,
                    const struct table_tree_setup *setup,
                    struct es_error *err);
/* The port at which we listen. */
uint16_t table_tree_door(const struct table_tree *t);
/* Stop listening, and send the body to the children of w's rank. */
void table_tree_pass(struct table_tree *t,
                     const struct wireup *w,
                     uint32_t branches,
                     const uint8_t *body,
                     size_t len);
/* NULL is allowed.  May be called from any callback but those of the tree. */
void table_tree_close(struct table_tree *t);

#endif
