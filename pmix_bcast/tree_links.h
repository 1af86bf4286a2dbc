/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_links.h - symbolic links of a tree that lead back into it by an absolute path:
 * those of the copy would lead to the source, and not into the copy.
 */
#ifndef PMIX_BCAST_TREE_LINKS_H
#define PMIX_BCAST_TREE_LINKS_H

#include <stddef.h>

struct tree_links {
    char **given,
        **real; /* n each, owned: the sources as absolute paths, as they are
                             named and without links; NULL: there is none */
    size_t n;
};

/* path: the sources, without slashes at the end.  0, or -1 if memory ran out; it is to
 * be cleared either way. */
int tree_links_init(struct tree_links *l, char *const path[], size_t n);
/*
 * Where a link leads if its target is in one of the sources, as a path relative to
 * the link's folder in the copy: 1, and to, of size bytes, is filled in.  0: it leads
 * elsewhere; -1: the path is too long.
 *
 *   in_tree   the link's own path in the copy
 */
int tree_links_relative(const struct tree_links *l,
                        const char *in_tree,
                        const char *target,
                        char *to,
                        size_t size);
void tree_links_clear(struct tree_links *l);

#endif
