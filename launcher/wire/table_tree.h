/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_tree.h - the table of all agents' endpoints (wireup.h) goes down a tree
 * of the agents, so that the front end need not send N tables of N lines.
 *
 * The front end is the root: its children are the ranks 0 to k-1, those of rank r are
 * k(r+1) to k(r+1)+k-1.  Each agent waits at a door, a port that it has for the
 * start only: its parent calls there and hands on the FENCE that it got itself.
 * A child that does not take it is missed: the front end then sends it the table.
 *
 * All callbacks come from the event loop.
 */
#ifndef LAUNCHER_WIRE_TABLE_TREE_H
#define LAUNCHER_WIRE_TABLE_TREE_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/channel.h"

/* Up to so many agents have it from the front end itself, and may fetch from PMIx all
 * they want: 64 tables of 64 lines are some 130 KB. */
#define TABLE_DIRECT_MAX 64u
/* 16,384 agents are five calls deep.  A parent sends so many tables. */
#define TABLE_BRANCHES 8u

/* For so many agents; 0: the front end sends each of them the table. */
uint32_t table_branches(uint32_t agents);
/* The first child of a rank, which may be none of the agents' ranks. */
uint64_t table_first_child(uint32_t branches, uint32_t rank);

struct table_tree;

struct table_tree_events {
    /* The parent has handed over the body of a FENCE: 0, or -1 if that is not
     * one that this agent can take. */
    int (*receive)(void *arg, const uint8_t *body, size_t len);
    /* A child has not taken it. */
    void (*missed)(void *arg, uint32_t rank);
};

struct table_tree_setup {
    struct event_base *base;
    const struct secret *secret;
    uint32_t self;           /* our rank */
    struct port_range ports; /* to listen at */
    int loopback;
    const struct table_tree_events *on;
    void *arg;
};

/* Open the door; secret, on and arg must outlive the tree. */
int table_tree_open(struct table_tree **t,
                    const struct table_tree_setup *setup,
                    struct es_error *err);
uint16_t table_tree_door(const struct table_tree *t);
/* Shut it, and call the children of w's rank to hand on that body. */
void table_tree_pass(struct table_tree *t,
                     const struct wireup *w,
                     uint32_t branches,
                     const uint8_t *body,
                     size_t len);
/* NULL is allowed, and any callback but its own. */
void table_tree_close(struct table_tree *t);

#endif
