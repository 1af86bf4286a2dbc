/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_merge.h - brings what only the old tree has into the new one: its files
 * get a second name there (hard links), as they are not touched.
 */
#ifndef PMIX_BCAST_TREE_MERGE_H
#define PMIX_BCAST_TREE_MERGE_H

#include "pmix_bcast/tree_digest.h"

struct tree_merge {
    const struct tree_index *index; /* of the new tree */
    int from, to;                   /* folders: the old and the new tree */
    struct tree_progress *progress;
    char path[TREE_PATH_MAX]; /* filled: what failed, or its end */
};

/* The new tree's folders are there, and may be written.  0 or an errno value:
 * EISDIR: a folder there is none in the new tree; EBUSY: a mount point. */
int tree_merge(struct tree_merge *m);

#endif
