/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_node.h - a node's side of a broadcast: the copy, the connections to
 * the other nodes and to home, and the relay (relay.h) that says what to do.
 *
 * A chunk's digest is a tag (seal.h) under a key of the broadcast, which home
 * makes once and every node checks: what a node passes on is what home has
 * sent, whoever stands between them.  Of a tree whose files it had already it
 * makes the tag itself; these files were checked by their digests.
 *
 * A node is there from home's ORDER to its END, or until its user destroys
 * it.  It sends DONE once: when the file has its name, or with the reason why
 * it never will.
 */
#ifndef PMIX_BCAST_BCAST_NODE_H
#define PMIX_BCAST_BCAST_NODE_H

#include "pmix_bcast/bcast_begun.h"
#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/link.h"
#include "pmix_bcast/wireup.h"

struct bcast_node;

struct bcast_node_setup {
    struct event_base *base;
    const struct secret *secret;
    const struct wireup *wireup;    /* its agents are the plan's nodes */
    const char *home_address;       /* numeric */
    struct bcast_begun_list *begun; /* by those before: what this brings the
                                       content of is taken from it */
    /* Send a message to home over the caller's channel; clears w. */
    void (*send)(void *arg, enum bcast_kind kind, struct writer *w);
    void *arg;
};

/* Begin; a failure is reported by DONE.  NULL if memory ran out.  The setup's
 * pointers must outlive the node. */
struct bcast_node *bcast_node_start(const struct bcast_node_setup *s,
                                    const struct bcast_order *order);
uint32_t bcast_node_id(const struct bcast_node *b);
/* A SUM, LOST or END has come.  Returns 0, or -1 if it is none of them or not
 * of this broadcast. */
int bcast_node_receive(struct bcast_node *b,
                       enum bcast_kind kind,
                       const uint8_t *body,
                       size_t len);
/* Another node has called: l is ours from now on. */
void bcast_node_join(struct bcast_node *b, struct link *l);
/* After its END: what it has begun goes into the setup's list, for the broadcast that
 * brings the content.  Only bcast_node_destroy() comes after this. */
void bcast_node_hand_on(struct bcast_node *b);
/* NULL is allowed.  A file or tree that is not whole is removed. */
void bcast_node_destroy(struct bcast_node *b);

#endif
