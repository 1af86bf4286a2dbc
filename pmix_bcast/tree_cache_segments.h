/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_cache_segments.h - what segments the large files of a cache have; a part of
 * tree_cache.h.
 *
 * It stands in <folder>/segments/<64 digits>, of each segment its offset u64, its len
 * u32 and its digest, a blob.
 */
#ifndef PMIX_BCAST_TREE_CACHE_SEGMENTS_H
#define PMIX_BCAST_TREE_CACHE_SEGMENTS_H

#include "pmix_bcast/segment_list.h"
#include "pmix_bcast/tree_digest.h"

struct tree_cached_file {
    uint8_t digest[TREE_DIGEST];
    atomic_int is_damaged;
};

struct tree_cached {               /* files, all zero: none */
    struct tree_cached_file *file; /* n, owned: free(3) */
    size_t n, room;
};

/* Note those of a file that the cache has, unless they are.  If that fails, the file
 * is of use as a whole. */
void tree_cache_put_segments(int folder,
                             const struct tree_index *t,
                             uint32_t entry);
/* How many bytes the note of so many needs; and how many of the disk that of a file
 * of the cache, called so, has. */
uint64_t tree_cache_segments_need(uint32_t segments);
uint64_t tree_cache_segments_used(int folder, const char *name);
/* Add those of all its files, which are numbered from first on; but not what there
 * is no memory for.  0, or ECANCELED. */
int tree_cache_all_segments(int folder,
                            struct segment_list *l,
                            struct tree_cached *files,
                            uint32_t first,
                            struct tree_progress *p);
/* Remove those of files that are gone. */
void tree_cache_sweep_segments(int folder);

#endif
