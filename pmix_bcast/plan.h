/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - who passes which chunk of a broadcast to whom.  Pure.
 *
 * Home cuts the data into chunks and gives each to one node of the first
 * layer; the chunk goes down a tree from there.  Receivers are numbered from
 * 0 to nodes - 1, without home.  There are two shapes:
 *
 * PLAN_STRIPES  Chunks belong to `branches` stripes, and each stripe has a
 *   tree over all nodes.  A node is an inner one in a single stripe and a leaf
 *   in the others, so every link is used both ways all the time and no node
 *   must pull unless something goes wrong.  With branches = nodes every tree
 *   is a root and its leaves.  (SplitStream, SOSP 2003.)
 *
 * PLAN_BRANCHES  One tree, home at its root, where an inner node has up to
 *   `branches` children.  A node is pushed only the chunks of its branch and
 *   pulls all others.  With k + k² nodes there are two layers, k branches of k
 *   children each; with other numbers branches differ by one node, and may
 *   have more layers.  (CN 102486739.)
 */
#ifndef PMIX_BCAST_PLAN_H
#define PMIX_BCAST_PLAN_H

#include "pmix_bcast/error.h"

#include <stdint.h>

#define PLAN_NOBODY    UINT32_MAX /* no node, or home */
#define CHUNK_MIN      1024u      /* bytes */
#define CHUNK_MAX      (4u << 20) /* below MESSAGE_BODY_MAX */
#define CHUNKS_MAX     (1u << 24) /* so that an index array stays small */
#define PLAN_NODES_MAX 65536u     /* AGENTS_MAX */

/* In an order, too: see bcast_message.h. */
enum plan_shape { PLAN_STRIPES = 0, PLAN_BRANCHES = 1 };

struct plan {
    uint64_t bytes;
    uint32_t nodes;    /* receivers, at least 1 */
    uint32_t branches; /* first-layer nodes, 1 to nodes */
    uint32_t chunk;    /* bytes of a chunk but for the last ones */
    uint32_t taper;    /* bytes of the smallest at the end; chunk: none */
    uint32_t chunks;   /* how many; 0 if there are no bytes */
    uint32_t shape;    /* enum plan_shape */
};

/* What the caller wants; 0 leaves a choice to the plan. */
struct plan_wish {
    uint64_t bytes;
    uint32_t nodes, branches, chunk;
    enum plan_shape shape;
};

/* Choose what is left open; fails on a chunk size or number of nodes out of
 * its limits. */
int plan_make(struct plan *p,
              const struct plan_wish *wish,
              struct es_error *err);
/* 0 if a plan that came over the wire is one that plan_make() could make. */
int plan_check(const struct plan *p);

/* --- the table of chunks -------------------------------------------------- */

/*
 * Chunks are equal but for the last ones, which become smaller so that the
 * last node does not wait for a whole one: fill at[0 .. chunks] with the
 * offsets; at[chunks] is bytes.
 */
void plan_offsets(const struct plan *p, uint64_t *at);

/* --- the trees ------------------------------------------------------------ */

/*
 * What home gives away, in order: chunk to a node of the first layer.  Each
 * chunk once, but in PLAN_BRANCHES with fewer chunks than branches: then they
 * start again for the rest of the first layer.
 */
struct give {
    uint32_t chunk, node;
};
uint32_t plan_gives(const struct plan *p);
struct give plan_give(const struct plan *p, uint32_t i);

/* Home is connected to the nodes below this: the first layer, and some that
 * can take a place in it. */
uint32_t plan_used(const struct plan *p);

/* Who pushes the chunk to node; PLAN_NOBODY: home does, or nobody. */
uint32_t plan_parent(const struct plan *p, uint32_t node, uint32_t chunk);
/* To how many nodes node passes the chunk on, and to which, in order. */
uint32_t plan_children(const struct plan *p, uint32_t node, uint32_t chunk);
uint32_t plan_child(const struct plan *p,
                    uint32_t node,
                    uint32_t chunk,
                    uint32_t i);
/* Is node pushed the chunk, by home or a parent? */
int plan_is_pushed(const struct plan *p, uint32_t node, uint32_t chunk);
/* One of the nodes that are pushed the chunk, each about as likely if random
 * is. */
uint32_t plan_holder(const struct plan *p, uint32_t chunk, uint64_t random);

/* Does one of the two pass chunks to the other? */
int plan_are_neighbours(const struct plan *p, uint32_t a, uint32_t b);

/*
 * After how many times of one chunk on a link node has the chunk: those
 * before it at home, and at every layer the siblings before it.  In CN
 * 102486739 it is (i + j) × s / g, with j the child's number.
 */
uint64_t plan_slots(const struct plan *p, uint32_t node, uint32_t chunk);

#endif
