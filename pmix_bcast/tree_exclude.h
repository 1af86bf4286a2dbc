/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_exclude.h - patterns of what is left out of a tree; they mean what those of
 * --exclude of rsync(1) mean (FILTER RULES there), with the tree for the root of
 * the transfer.
 */
#ifndef PMIX_BCAST_TREE_EXCLUDE_H
#define PMIX_BCAST_TREE_EXCLUDE_H

/* Is what has this path in the tree, which is not empty, called so? */
int tree_exclude_has(const char *pattern, const char *path, int is_folder);

#endif
