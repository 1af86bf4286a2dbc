/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_cache_name.h - what things in a cache of files (tree_cache.h) are called.
 */
#ifndef PMIX_BCAST_TREE_CACHE_NAME_H
#define PMIX_BCAST_TREE_CACHE_NAME_H

#include "pmix_bcast/tree_index.h"

#include <sys/stat.h>

#define TREE_CACHE_NAME 74u /* bytes, with the NUL */

/* A file: by its digest, in a folder that has its first two digits.  And is that
 * what this is? */
void tree_cache_name(char name[TREE_CACHE_NAME],
                     const uint8_t digest[TREE_DIGEST]);
int tree_cache_is_file(const char *folder, const char *name);
/* What becomes a file, in one of its folders; is it such a one; and did the agent
 * that made it leave it? */
void tree_cache_part(char part[TREE_CACHE_NAME], const char *folder);
int tree_cache_is_part(const char *name);
int tree_cache_is_stale(const struct stat *part);

#endif
