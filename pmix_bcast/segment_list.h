/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment_list.h - segments of files by their content: those that a tree lacks, and
 * those that are on this node, from which it may take them.  Pure.
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
    const struct segment_list *only; /* nothing else is added; NULL: all is */
};

/* What there is no memory for, or is more than a tree may have, is left out; and of
 * what follows in one file and has the same content, all but the first. */
void segment_list_add(struct segment_list *l,
                      const struct tree_segment *s,
                      uint32_t file);
/* When all are in it. */
void segment_list_sort(struct segment_list *l);
/* Of a sorted list, those with the same content, *n of them; NULL: there are none. */
const struct segment_place *segment_list_find(const struct segment_list *l,
                                              const struct tree_segment *s,
                                              size_t *n);
void segment_list_clear(struct segment_list *l);

#endif
