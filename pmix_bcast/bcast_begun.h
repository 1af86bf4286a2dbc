/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_begun.h - what broadcasts have begun on a node, a file or a tree of files, and
 * others will bring the content of.  Until then the room for it is promised.
 */
#ifndef PMIX_BCAST_BCAST_BEGUN_H
#define PMIX_BCAST_BCAST_BEGUN_H

#include "pmix_bcast/destination.h"
#include "pmix_bcast/tree_copy.h"

struct bcast_begun {
    uint32_t id;             /* of the broadcast that has begun it */
    struct tree_copy *tree;  /* NULL: it is a file */
    struct destination file; /* else it is closed */
};

struct bcast_begun_list { /* all zero: empty */
    size_t n, cap;
    struct bcast_begun *one; /* owned, as what it holds */
    struct room_need *need;  /* of each, owned */
};

/* One more, with what it needs; without memory it is removed from the node. */
void bcast_begun_put(struct bcast_begun_list *l,
                     struct bcast_begun *b,
                     const struct room_need *need);
/* What that broadcast has begun: the caller's now.  0, or -1: nothing. */
int bcast_begun_take(struct bcast_begun_list *l,
                     uint32_t id,
                     struct bcast_begun *b);
/* Nobody brings it: it is removed from the node. */
void bcast_begun_clear(struct bcast_begun_list *l);

#endif
