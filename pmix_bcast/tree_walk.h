/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_walk.h - goes through the files and folders of a tree and writes its
 * index; a part of tree_source.h.
 */
#ifndef PMIX_BCAST_TREE_WALK_H
#define PMIX_BCAST_TREE_WALK_H

#include "pmix_bcast/error.h"
#include "pmix_bcast/tree_index.h"
#include "pmix_bcast/tree_list.h"
#include "pmix_bcast/tree_progress.h"

#define EXCLUDE_MAX 64u

struct stat;

struct tree_wish {
    char *const *source; /* n paths */
    size_t n;
    char *const *exclude; /* patterns of what is left out, see tree_exclude.h */
    size_t n_exclude;     /* EXCLUDE_MAX at most */
    const struct tree_list *list; /* of what is wanted; NULL: all */
    int relocate;   /* links that lead into the sources lead into the copy */
    int single;     /* the source is one regular file: it is in a folder */
    uint32_t parts; /* enum tree_part: what each entry has besides; digests are
                       left to be filled in */
};

struct tree_top { /* a source */
    uint32_t entry;
    char *path; /* owned */
};

struct tree_found {
    struct tree_top *top; /* n, owned: where the sources are */
    size_t n;
    uint64_t left_out;  /* sockets, pipes, devices */
    uint64_t unwanted;  /* what the wish leaves out */
    uint64_t used;      /* a bit for each pattern that has left out something */
    uint64_t inward;    /* links that lead into the sources, and not the copy */
    char *first_inward; /* of them, owned: its path in the copy */
};

/* Fills w with the index.  0, or -1 with err, also if it is not wanted any more;
 * then found is to be cleared, too. */
int tree_walk(struct tree_found *found,
              const struct tree_wish *wish,
              const struct tree_progress *progress,
              struct writer *w,
              struct es_error *err);
void tree_found_clear(struct tree_found *found);
/* The time of change, in ns since 1970. */
int64_t tree_time(const struct stat *st);

#endif
