/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_list.h - a list of paths in a tree: what is in it is brought, with all
 * that is in its folders, and the folders that lead there.
 */
#ifndef PMIX_BCAST_TREE_LIST_H
#define PMIX_BCAST_TREE_LIST_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdio.h>

struct tree_list {
    char **path; /* n, owned, in strcmp()'s order */
    char *found; /* of each: it was seen */
    size_t n, room;
};

/* Paths from the tree's root on, with `end` behind each; an empty one is passed
 * over.  One that is absolute or has ".." in it is refused.  0, or -1 with err;
 * the list is to be cleared either way. */
int tree_list_read(struct tree_list *l,
                   FILE *in,
                   int end,
                   struct es_error *err);

enum tree_listed { LIST_NO, LIST_ON_THE_WAY, LIST_YES };

/* Is it, or a folder that it is in, in the list; or does it lead to one? */
enum tree_listed tree_list_has(const struct tree_list *l, const char *path);
/* Was each of them asked for?  0, or -1 with err. */
int tree_list_check(const struct tree_list *l, struct es_error *err);
void tree_list_clear(struct tree_list *l);

#endif
