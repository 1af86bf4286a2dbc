/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_source.h - what home broadcasts: a file, or a tree's index or content.
 * It is read in chunks, each gets its tag (chunk_tag.h), and a change in between
 * is noticed.
 *
 * What fails fills err, which names the file.
 */
#ifndef PMIX_BCAST_BCAST_SOURCE_H
#define PMIX_BCAST_BCAST_SOURCE_H

#include "pmix_bcast/chunk_recent.h"
#include "pmix_bcast/chunk_tag.h"
#include "pmix_bcast/error.h"
#include "pmix_bcast/plan.h"
#include "pmix_bcast/tree_source.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct bcast_source {
    const char *path;
    int fd;                   /* of a file; -1: not open */
    struct tree_source *tree; /* the caller's; NULL: a file */
    int is_index;             /* of the tree */
    struct stat stat;         /* of a file, when it was opened */
    uint64_t bytes;
    uint8_t *buffer;            /* for a chunk */
    struct chunk_recent recent; /* of a tree */
    /* Of what goes in chunks: */
    const struct plan *plan;
    uint64_t *offset;      /* of each chunk, and the end of the last */
    struct chunk_tag *tag; /* of each chunk */
    uint8_t *has_tag;      /* likewise */
    uint32_t untagged;     /* chunks without a tag */
    struct seal *seal;
    uint64_t ahead; /* the kernel was asked to read up to here */
};

#define BCAST_SOURCE_CLOSED                                                    \
    (struct bcast_source)                                                      \
    {                                                                          \
        .fd = -1                                                               \
    }

/* Open a regular file; path must outlive the source.  All that return int
 * return 0, or -1 with err filled. */
int bcast_source_open(struct bcast_source *s,
                      const char *path,
                      struct es_error *err);
/* Or the index or the content of a tree, which must outlive the source. */
void bcast_source_of_tree(struct bcast_source *s,
                          struct tree_source *tree,
                          int is_index);
/* All of it at once, of which there are at most so many bytes as the plan's
 * chunk has; the bytes stay valid until it is closed.  NULL on failure. */
const uint8_t *bcast_source_read_all(struct bcast_source *s,
                                     const struct plan *plan,
                                     struct es_error *err);
/* Or: cut it as the plan says, which must outlive the source; the tags are
 * those of this broadcast. */
int bcast_source_cut(struct bcast_source *s,
                     const struct plan *plan,
                     const struct secret *secret,
                     uint32_t broadcast,
                     struct es_error *err);
/* Make the chunk's tag; of one that has it: are its bytes still the same? */
int bcast_source_tag(struct bcast_source *s,
                     uint32_t chunk,
                     struct es_error *err);
/* A chunk's bytes, where fd is -1. */
int bcast_source_read(struct bcast_source *s,
                      uint32_t chunk,
                      uint8_t *bytes,
                      struct es_error *err);
size_t bcast_source_size(const struct bcast_source *s, uint32_t chunk);
/* Is it as it was when it was opened? */
int bcast_source_check(const struct bcast_source *s, struct es_error *err);
void bcast_source_close(struct bcast_source *s);

#endif
