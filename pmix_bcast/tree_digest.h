/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_digest.h - the digest of a file in a tree: BLAKE2b (RFC 7693) of its
 * size, its extents, and all that is in them; of a file in segments, of their
 * digests.  Two files with one digest are the same, holes included.
 */
#ifndef PMIX_BCAST_TREE_DIGEST_H
#define PMIX_BCAST_TREE_DIGEST_H

#include "pmix_bcast/tree_index.h"
#include "pmix_bcast/tree_progress.h"

/* Of the file that is open at fd, as the index says where it has data.  What is
 * read is written to another, too (-1: none).  0 or an errno value: ENODATA if
 * the file is shorter, or not in the segments that the index has, ECANCELED. */
int tree_digest_of(uint8_t digest[TREE_DIGEST],
                   const struct tree_index *t,
                   uint32_t entry,
                   int fd,
                   int to,
                   struct tree_progress *p);
/* Of a file in segments, whose digests the index has.  0 or ENOMEM. */
int tree_digest_of_segments(uint8_t digest[TREE_DIGEST],
                            const struct tree_index *t,
                            uint32_t entry);

struct tree_cuts {
    struct tree_segment *segment; /* n, owned: free(3) */
    size_t n, room;
};

/* Cut the file that is open at fd, which has data in these extents, and find the
 * digests of the segments.  As tree_digest_of(). */
int tree_digest_cut(struct tree_cuts *cuts,
                    const struct tree_extent *extent,
                    size_t n,
                    int fd,
                    struct tree_progress *p);

#endif
