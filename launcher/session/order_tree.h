/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order_tree.h - the front end's end of the tree of agents (wire/table_tree.h):
 * what all nodes are to have it sends to its own children, who pass it on.
 *
 * Each order has a number and is kept until all nodes have told that they have
 * taken it.  A node that takes none for ORDER_LATE_MS has what it lacks from the
 * front end, and so have its children, as it may be their connection that fails
 * or the node itself; who is late again and again for ORDER_ADOPT_MS becomes the
 * front end's own child.  The children of a node that is lost do at once; but
 * those of one that was told to leave only if they are late, as it has passed
 * that on before it left.  What one's own children are sent counts as taken.
 *
 * All callbacks come from the event loop or from within a call.
 */
#ifndef LAUNCHER_SESSION_ORDER_TREE_H
#define LAUNCHER_SESSION_ORDER_TREE_H

#include "pmix_bcast/bytes.h"

#include <stddef.h>
#include <stdint.h>

/* Above what a healthy node needs, also one of many on a machine; who has an
 * order twice takes it once. */
#define ORDER_LATE_MS 600
/* Well below what a broadcast waits for one without progress. */
#define ORDER_ADOPT_MS 2000

struct event_base;
struct order_tree;

struct order_tree_setup {
    struct event_base *base;
    uint32_t n;        /* nodes, all here */
    uint32_t branches; /* of the tree */
    uint32_t number;   /* of the last order of a front end before, or 0 */
    /* Send to one node what w holds, and clear it. */
    void (*send)(void *arg, size_t node, uint16_t type, struct writer *w);
    void *arg;
};

/* NULL if memory ran out. */
struct order_tree *order_tree_create(const struct order_tree_setup *setup);
/* NULL is allowed. */
void order_tree_destroy(struct order_tree *t);

/* Send to all nodes that are here what w holds, and clear it. */
void order_tree_send(struct order_tree *t, uint16_t type, struct writer *w);
/* w[i] to node i if to[i] (NULL: to all); clears them. */
void order_tree_send_each(struct order_tree *t,
                          uint16_t type,
                          struct writer w[],
                          const char to[]);
/* Of the last order. */
uint32_t order_tree_number(const struct order_tree *t);
/* A message of its own is about to be sent to a node: it comes behind all orders
 * before. */
void order_tree_before(struct order_tree *t, size_t node);

/* A node has told that it has all up to this order.  0, or -1 if there was none
 * such. */
int order_tree_taken(struct order_tree *t, size_t node, uint32_t number);
void order_tree_lost(struct order_tree *t, size_t node);
/* It is here again, and is to have what follows only. */
void order_tree_returned(struct order_tree *t, size_t node);

#endif
