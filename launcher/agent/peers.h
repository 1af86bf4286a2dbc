/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peers.h - an agent among the others of its step: where it is itself, at which
 * ports they reach it, its place in their tree, and, once all are here, where
 * each of them is.
 */
#ifndef LAUNCHER_AGENT_PEERS_H
#define LAUNCHER_AGENT_PEERS_H

#include "launcher/agent/agent_setup.h"
#include "launcher/agent/greeting.h"
#include "launcher/wire/table_tree.h"
#include "pmix_bcast/adapter.h"
#include "pmix_bcast/mesh.h"

struct peers { /* all zero: not opened; for others to read */
    const struct agent_setup *setup;
    struct event_base *base;
    struct wireup wireup;   /* agent NULL: not all are here */
    struct endpoint mine;   /* where others reach us */
    struct adapter adapter; /* of that */
    struct listen_at at;    /* there, and in our networks meant for data */
    struct mesh *mesh;
    struct listener *listener; /* whom the mesh takes in */
    struct table_tree *tree;
    struct greeting *greeting; /* of the next one, or NULL */
};

/* Listen for the others, and get to know our rank, and of how many: with PMIx that
 * blocks.  setup, on and arg (table_tree.h) must outlive the peers, which are to
 * be closed in any case. */
int peers_open(struct peers *p,
               struct event_base *base,
               const struct agent_setup *setup,
               const struct table_tree_events *on,
               void *arg,
               struct es_error *err);
void peers_close(struct peers *p);

/* FENCE, from the front end or from our parent: all are here, or, where there is
 * no PMIx and no table yet, we may begin before that.  0; 1 if all were known; -1
 * if it is none. */
int peers_fence(struct peers *p, const uint8_t *body, size_t len);
/* Then: fetch the others' endpoints from PMIx, which blocks, if no table of them
 * has come. */
int peers_exchange(struct peers *p, struct es_error *err);
/* Pass an order to those below us, if we know them. */
void peers_pass(struct peers *p,
                const struct msg_relay *m,
                const uint8_t *body,
                size_t len);
/* Greet the next one of the ring of ranks, unless we are alone or do not know it
 * yet: fn says whether it can be reached. */
void peers_greet(struct peers *p, greeting_fn fn, void *arg);

#endif
