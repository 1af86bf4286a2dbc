/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_cache.h - files by their content, in a folder of the user on a node: what
 * a broadcast has brought, for the next one that brings the same.
 *
 * A file is <folder>/<2 digits>/<62 digits>: its digest (tree_digest.h), in hex.
 * Its time of change is when it was last used.  Whoever uses it checks the
 * digest again.  Several agents may use one folder at once.  What segments a file
 * has, if it is in segments, is in <folder>/segments/<64 digits>.
 */
#ifndef PMIX_BCAST_TREE_CACHE_H
#define PMIX_BCAST_TREE_CACHE_H

#include "pmix_bcast/tree_cache_segments.h"
#include "pmix_bcast/tree_same.h"

struct tree_cache {
    int folder; /* -1: there is none */
    uint64_t bytes;
    atomic_ullong taken;      /* bytes that it has put in */
    atomic_int full;          /* errno: it could not take a file */
    atomic_int damaged;       /* files were found, and removed */
    struct tree_cached files; /* those whose segments were asked for */
};

#define TREE_CACHE_CLOSED                                                      \
    (struct tree_cache)                                                        \
    {                                                                          \
        .folder = -1                                                           \
    }

/* Open it, make it if it is not there; it may have so many bytes.  It is closed
 * if it cannot be used; the note says why, or what there is to be known, else it
 * is "". */
void tree_cache_open(struct tree_cache *c,
                     const char *path,
                     uint64_t bytes,
                     char *note,
                     size_t size);
#define TREE_CACHE_DAMAGED (-2)

/* As tree_same_make(), from what is there for the entry's digest.  Or *fd is
 * TREE_CACHE_DAMAGED: what is there is another file.  It is removed; but not one in
 * segments, of which some may be good, before tree_cache_drop(). */
int tree_cache_get(struct tree_cache *c, int *fd, const struct tree_place *p);
/* The bytes of disk that an entry would take; 0: it is there, or is not for a cache. */
uint64_t tree_cache_lacks(const struct tree_cache *c,
                          const struct tree_entry *e);
/* Take the file that is at p, unless it is there.  If it cannot, as more than its
 * bytes were put into it, it is not. */
void tree_cache_put(struct tree_cache *c, const struct tree_place *p);
/* Add the segments of all its files, which are numbered from first on; and open one
 * of these: a descriptor, or -1.  0, or ECANCELED. */
int tree_cache_segments(struct tree_cache *c,
                        struct segment_list *l,
                        uint32_t first,
                        struct tree_progress *p);
int tree_cache_open_file(const struct tree_cache *c, uint32_t i);
/* One of these is damaged, in some segment; and all such go. */
void tree_cache_mark_bad(struct tree_cache *c, uint32_t i);
void tree_cache_drop_bad(const struct tree_cache *c);
/* A damaged file goes. */
void tree_cache_drop(const struct tree_cache *c,
                     const uint8_t digest[TREE_DIGEST]);
/* Remove what was not used for longest, until so many bytes more are no more than it
 * may have.  Another one that does so is waited for, but not for long. */
void tree_cache_trim(const struct tree_cache *c, uint64_t more);
void tree_cache_close(struct tree_cache *c);

#endif
