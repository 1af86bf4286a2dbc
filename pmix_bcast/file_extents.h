/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_extents.h - where a file has data, and where it is a hole.
 */
#ifndef PMIX_BCAST_FILE_EXTENTS_H
#define PMIX_BCAST_FILE_EXTENTS_H

#include "pmix_bcast/tree_index.h"

struct file_extents {
    struct tree_extent *extent; /* n, owned; only offset and len are set */
    size_t n, room;
};

/* Of the file open at fd, which has so many bytes; where its file system cannot
 * tell, all of it is data.  0, or ENOMEM. */
int file_extents_find(struct file_extents *x, int fd, uint64_t size);
/* All of it is data. */
int file_extents_all(struct file_extents *x, uint64_t size);
/* Is there a hole in the file of this name?  Not where its file system cannot tell:
 * one that compresses has fewer blocks than bytes of files without any, too. */
int file_extents_has_hole(const char *path);
void file_extents_clear(struct file_extents *x);

#endif
