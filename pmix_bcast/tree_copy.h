/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_copy.h - the tree of files that a broadcast makes on a node: in a hidden
 * folder beside its place, until it is whole; then it gets its name in one
 * step.
 *
 * The hidden folder of an agent that was killed is removed by the next one that
 * has a tree to make beside it.
 *
 * All that return int return 0 or an errno value.
 */
#ifndef PMIX_BCAST_TREE_COPY_H
#define PMIX_BCAST_TREE_COPY_H

#include "pmix_bcast/tree_index.h"

struct tree_copy;

struct tree_copy_setup {
    const char *destination; /* absolute */
    int force;               /* replace what is there */
    int keep;                /* it is on the disk when it has its name */
};

/* Make all folders and symlinks, and what has no content.  The index is taken
 * over, on failure, too; it stays where it is until tree_copy_destroy().
 * ENOSPC if there is no room for the rest. */
int tree_copy_open(struct tree_copy **out,
                   const struct tree_copy_setup *setup,
                   uint8_t *index,
                   size_t len);
/* How many bytes the content has. */
uint64_t tree_copy_bytes(const struct tree_copy *t);
/* Each byte of the content comes once. */
int tree_copy_write(struct tree_copy *t,
                    const uint8_t *bytes,
                    size_t len,
                    uint64_t at);
/* What was written, also when it has its name. */
int tree_copy_read(struct tree_copy *t,
                   uint8_t *bytes,
                   size_t len,
                   uint64_t at);
/* All of it has come: give it its name, and remove what it replaces. */
int tree_copy_finish(struct tree_copy *t);
/* What is not finished is removed; NULL is allowed. */
void tree_copy_destroy(struct tree_copy *t);

#endif
