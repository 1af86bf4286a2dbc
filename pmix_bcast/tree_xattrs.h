/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_xattrs.h - the extended attributes of a file or folder, as an index has
 * them (tree_index.h): the user's own, and access control lists.  What says
 * what a program may do is the node's matter.
 */
#ifndef PMIX_BCAST_TREE_XATTRS_H
#define PMIX_BCAST_TREE_XATTRS_H

#include "pmix_bcast/bytes.h"

/* Into w, which is empty.  A file system without attributes has none.  0, or an
 * errno value: E2BIG if they are too many. */
int tree_xattrs_read(struct writer *w, const char *path);

#endif
