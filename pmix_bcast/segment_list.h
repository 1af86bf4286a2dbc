/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment_list.h - the segments of files that are on this node, by their content:
 * where a tree's file may take its own from.  Pure.
 */
#ifndef PMIX_BCAST_SEGMENT_LIST_H
#define PMIX_BCAST_SEGMENT_LIST_H

#include "pmix_bcast/tree_index.h"

struct segment_place {
    struct tree_segment segment;
    uint32_t file; /* as whoever adds it counts them */
};

struct segment_list {            /* all zero: empty */
    struct segment_place *place; /* n, owned */
    size_t n, room;
};

/* More than a tree may have are left out.  0, or ENOMEM. */
int segment_list_add(struct segment_list *l,
                     const struct tree_segment *s,
                     uint32_t file);
/* When all are in it. */
void segment_list_sort(struct segment_list *l);
/* One with the same content; NULL: there is none. */
const struct segment_place *segment_list_find(const struct segment_list *l,
                                              const struct tree_segment *s);
void segment_list_clear(struct segment_list *l);

#endif
