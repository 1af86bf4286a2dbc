/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_copy.h - the tree of files that a broadcast makes on a node: in a hidden
 * folder beside its place, until it is whole; then it gets its name in one
 * step.
 *
 * The hidden folder of an agent that was killed is removed by the next one that
 * has a tree to make beside it.
 *
 * All that return int return 0 or an errno value.
 */
#ifndef PMIX_BCAST_TREE_COPY_H
#define PMIX_BCAST_TREE_COPY_H

#include "pmix_bcast/room.h"
#include "pmix_bcast/tree_index.h"

struct tree_copy;

struct tree_copy_setup {
    const char *destination; /* absolute */
    int force;               /* replace what is there */
    int keep;                /* it is on the disk when it has its name */
    int update;              /* take what is the same from what is there, and
                                keep what only that has */
    int delete;              /* do not keep that */
    int single;              /* it is the one file in the tree */
    int now;                 /* its time of change is not kept */
    const char *cache;       /* use the one in this folder; NULL: none */
    uint64_t cache_bytes;    /* that it may have */
    struct room *room; /* as of destination_open(), until it is prepared */
};

/* Read the index, which is taken over, on failure, too; it stays where it is
 * until tree_copy_destroy(). */
int tree_copy_create(struct tree_copy **out,
                     const struct tree_copy_setup *setup,
                     uint8_t *index,
                     size_t len);
/* Make all folders and symlinks, what has no content, and what is here already.
 * ENOSPC if there is no room for the rest, which is promised else. */
int tree_copy_prepare(struct tree_copy *t);
/* Then: the segments of files that are to come; no bits if nobody has asked for
 * what is here.  And which come: what other nodes lack is among them. */
const struct tree_want *tree_copy_lacks(const struct tree_copy *t);
int tree_copy_select(struct tree_copy *t, const uint8_t *bits, size_t len);
/* Of the content from at on: are all those bytes of segments that were here? */
int tree_copy_was_here(const struct tree_copy *t, uint64_t at, size_t len);
/* How many bytes the content has. */
uint64_t tree_copy_bytes(const struct tree_copy *t);
/* Each byte of the content comes once. */
int tree_copy_write(struct tree_copy *t,
                    const uint8_t *bytes,
                    size_t len,
                    uint64_t at);
/* What was written, also when it has its name. */
int tree_copy_read(struct tree_copy *t,
                   uint8_t *bytes,
                   size_t len,
                   uint64_t at);
/* All of it has come: give it its name, and remove what it replaces. */
int tree_copy_finish(struct tree_copy *t);
/* While tree_copy_prepare() or tree_copy_finish() runs in another thread it may
 * be read, and: a number that grows as they get on; and they shall end soon. */
unsigned tree_copy_steps(const struct tree_copy *t);
void tree_copy_cancel(struct tree_copy *t);
/* After a failure: what it was, "" if the errno value says all.  And at the end:
 * what is not quite as was asked, or "". */
const char *tree_copy_why(const struct tree_copy *t);
const char *tree_copy_note(struct tree_copy *t);
/* What is not finished is removed; NULL is allowed. */
void tree_copy_destroy(struct tree_copy *t);

#endif
