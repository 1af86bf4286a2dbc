/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_same.h - makes a file of a tree from one that is on this node already, if
 * it is the same: by reflink where the file system can, else by copying.
 *
 * What is compared is what is made: it does not matter if somebody writes to
 * the other file meanwhile.
 */
#ifndef PMIX_BCAST_TREE_SAME_H
#define PMIX_BCAST_TREE_SAME_H

#include "pmix_bcast/tree_digest.h"

struct tree_place { /* of a file that is to be made */
    const struct tree_index *index;
    uint32_t entry;
    int root; /* folder, and the name in it */
    const char *path;
    struct tree_progress *progress;
};

/* From the file open at from.  The new one is open at *fd then, with mode 0600;
 * or that is -1: it is not the same, and nothing is left.  0, or an errno
 * value. */
int tree_same_make(int *fd, const struct tree_place *p, int from);

#endif
