/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_copy_state.h - what the files of tree_copy.h share: tree_copy_content.c
 * takes the index and the content, tree_copy_same.c what is on the node already,
 * tree_copy_segments.c parts of it, and tree_copy_twins.c what is in the tree
 * twice; tree_copy_mounts.c looks for mounts there; tree_copy_files.c opens files,
 * tree_copy_attributes.c sets modes and times, and tree_copy_end.c gives the tree
 * its name.
 */
#ifndef PMIX_BCAST_TREE_COPY_STATE_H
#define PMIX_BCAST_TREE_COPY_STATE_H

#include "pmix_bcast/target.h"
#include "pmix_bcast/tree_cache.h"
#include "pmix_bcast/tree_copy.h"
#include "pmix_bcast/tree_files.h"
#include "pmix_bcast/tree_same.h"
#include "pmix_bcast/tree_want.h"

#include <stdatomic.h>
#include <time.h>

#define TREE_COPY_PREFIX ".evenstep-tree-"

struct tree_copy {
    struct tree_index index;
    struct tree_files files;
    uint64_t *left; /* of each entry: bytes that are to come */
    uint32_t
        *twin;    /* of each entry: that of which it is made, owned; 0: none */
    uint8_t *bad; /* of each entry, owned: 1 if the cache's file is damaged */
    char *destination;
    struct tree_want lacks; /* what was not here; no bits: all */
    struct target target;
    struct tree_cache cache;
    struct tree_progress progress;
    atomic_int unset; /* errno: an attribute could not be set */
    int root;         /* the folder; -1: none */
    int dense;        /* a hole takes as much room there as data */
    char part[128];   /* its hidden name; "" if it has its own */
    char host[65];
    int force, keep, update, delete, single, now, use_cache;
    int old; /* with update: the folder that is there; -1: none */
    struct room *room, alone; /* alone: nobody has given one */
    char *cache_path;
    uint64_t cache_bytes;
    char cache_note[300], note[200];
    char why[TREE_PATH_MAX + 64]; /* more than an errno value says */
};

/* What is there cannot be replaced if it is a mount point, nor if one is within
 * it: that mount would go where the old tree goes.  EBUSY. */
#define TREE_COPY_MOUNTED "%s is a mount point there: unmount it first"
int tree_copy_check_mounts(struct tree_copy *t);

/* The old tree's file in an entry's place; -1: there is none. */
int tree_copy_open_old(const struct tree_copy *t, uint32_t entry);
/* Holes, and a hole at the end, are there before the data.  0, or -1 with errno. */
int tree_copy_begin_file(const struct tree_copy *t, uint32_t entry, int fd);
/* A file is whole: it gets its attributes, mode and times. */
int tree_copy_end_file(struct tree_copy *t, const struct tree_entry *e, int fd);
void tree_copy_set_xattrs(struct tree_copy *t,
                          const struct tree_entry *e,
                          int fd);
/* For utimensat(): now, and a time of change, which may be none. */
void tree_copy_set_times(struct timespec times[2], int64_t ns);

/* Make what is the same in the old tree or in the cache, find what is not, and
 * keep what only the old tree has; and at the end fill the cache. */
int tree_copy_take_same(struct tree_copy *t);
/* Of files that are not: the segments that are; here has a byte of each of the
 * tree, which becomes 1. */
int tree_copy_take_segments(struct tree_copy *t, uint8_t *here);
int tree_copy_fill_cache(struct tree_copy *t);
/* Between the two: of files of one digest, who is to be made of which, so that it
 * need not come; and when all has come, make it. */
int tree_copy_find_twins(struct tree_copy *t);
int tree_copy_make_twins(struct tree_copy *t);
/* Where an entry is; ENAMETOOLONG. */
int tree_copy_place(struct tree_copy *t,
                    uint32_t entry,
                    struct tree_place *p,
                    char path[TREE_PATH_MAX]);

#endif
