/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_origin.h - where what home broadcasts is, as nodes can tell, so that none
 * replaces it: what is at the destination must not be a source, nor hold one, nor
 * be in one.
 *
 * In an order it is a blob of at most BCAST_ORIGIN_MAX bytes:
 *
 *   flags u32 (enum origin_flag), machine u64, sources u32,
 *   then of each source, and of each folder that one of them is in, up to "/",
 *   what it is (object_id.h)
 */
#ifndef PMIX_BCAST_BCAST_ORIGIN_H
#define PMIX_BCAST_BCAST_ORIGIN_H

#include "pmix_bcast/bytes.h"
#include "pmix_bcast/object_id.h"
#include "pmix_bcast/tree_walk.h"

#define BCAST_ORIGIN_HEAD 16u
#define BCAST_ORIGIN_OBJECTS                                                   \
    65536u /* as many as the longest command line has */
#define BCAST_ORIGIN_MAX                                                       \
    (BCAST_ORIGIN_HEAD + BCAST_ORIGIN_OBJECTS * OBJECT_ID_BYTES)

enum origin_flag {
    ORIGIN_MAY_BE = 1, /* nothing is lost where a source replaces itself */
    ORIGIN_UPDATE = 2, /* nothing would be if it were an update */
};

/* At home, of n sources: fills w.  0, or an errno value: E2BIG if there are too
 * many of them. */
int bcast_origin_write(struct writer *w,
                       const struct tree_top *source,
                       size_t n,
                       uint32_t flags);
/* Is it just what is said above?  Of no bytes, too: nothing is replaced. */
int bcast_origin_is_sound(const uint8_t *origin, size_t len);
/* On a node, of one that is sound: may what is at this absolute path be replaced,
 * by a tree if is_tree?  0; or an errno value, and why has more, "" if that says
 * all.  What is wrong with the path itself is for others to find. */
int bcast_origin_check(const uint8_t *origin,
                       size_t len,
                       const char *destination,
                       int is_tree,
                       char *why,
                       size_t size);

#endif
