/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_cache.h - files by their content, in a folder of the user on a node: what
 * a broadcast has brought, for the next one that brings the same.
 *
 * A file is <folder>/<2 digits>/<62 digits>: its digest (tree_digest.h), in hex.
 * Its time of change is when it was last used.  Whoever uses it checks the
 * digest again.  Several agents may use one folder at once.
 */
#ifndef PMIX_BCAST_TREE_CACHE_H
#define PMIX_BCAST_TREE_CACHE_H

#include "pmix_bcast/tree_same.h"

struct tree_cache {
    int folder; /* -1: there is none */
    uint64_t bytes;
    atomic_int full;    /* errno: it could not take a file */
    atomic_int damaged; /* files were found, and removed */
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
/* As tree_same_make(), from what is there for the entry's digest. */
int tree_cache_get(struct tree_cache *c, int *fd, const struct tree_place *p);
/* Take the file that is at p, unless it is there.  If it cannot, it is not. */
void tree_cache_put(struct tree_cache *c, const struct tree_place *p);
/* Remove what was not used for longest, as far as it has more than its bytes. */
void tree_cache_trim(const struct tree_cache *c);
void tree_cache_close(struct tree_cache *c);

#endif
