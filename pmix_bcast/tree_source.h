/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_source.h - the files and folders that home broadcasts as one tree.
 *
 * One source is the tree's root; of several each is in the root, under its
 * last name.  A source that is a link is followed; links in it stay links.
 * Sockets, pipes and devices are left out.
 *
 * What fails fills err, which names the file.  All that reads files may be ended
 * early, and fails then: it looks at that between two files, and between two
 * blocks of a large one.
 */
#ifndef PMIX_BCAST_TREE_SOURCE_H
#define PMIX_BCAST_TREE_SOURCE_H

#include "pmix_bcast/error.h"
#include "pmix_bcast/tree_ahead.h"
#include "pmix_bcast/tree_files.h"
#include "pmix_bcast/tree_walk.h"

struct tree_source {
    struct tree_index index;
    struct tree_files files;
    struct tree_found found;
    struct tree_want want; /* what some node lacks; no bits: they are not
                              asked */
    uint64_t bytes;        /* of all files */
    struct tree_progress progress;
    struct tree_ahead *ahead; /* NULL: files are opened as they are read */
    uint32_t opened;          /* files, of late ... */
    int64_t read_ns;          /* ... how long all reading has taken ... */
    long waited;              /* ... and how often it was waited for */
};

/* Before anything else.  Who sets *stop (NULL: nobody), from a handler of signals
 * even, has it end early. */
void tree_source_init(struct tree_source *s, const atomic_int *stop);
/* From any thread: likewise. */
void tree_source_cancel(struct tree_source *s);
/* Look at all of it, which may take long, and may be done by any thread; the wish
 * need not outlive it, the source must stay where it is in memory.  0, or -1; then
 * it needs no close. */
int tree_source_open(struct tree_source *s,
                     const struct tree_wish *wish,
                     struct es_error *err);
/* With digests in the index: find them, and be ready to note what nodes want.
 * As it may take long it is for a thread: what reads the source has to wait. */
int tree_source_digest(struct tree_source *s, struct es_error *err);
/* From now on the content is what nodes want. */
int tree_source_select(struct tree_source *s, struct es_error *err);
/* The content's bytes. */
int tree_source_read(struct tree_source *s,
                     uint8_t *bytes,
                     size_t len,
                     uint64_t at,
                     struct es_error *err);
/* Are all files as they were?  One look at each. */
int tree_source_check(const struct tree_source *s, struct es_error *err);
void tree_source_close(struct tree_source *s);

#endif
