/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_copy.h - what a node makes of a broadcast: chunk by chunk, each checked
 * by its tag (chunk_tag.h), which is kept for the nodes that get the chunk from
 * here.  It is a file; or a tree's index, which is held in memory and makes the
 * tree when it is whole; or the content of that tree.
 *
 * All that return int return 0 or an errno value.
 */
#ifndef PMIX_BCAST_BCAST_COPY_H
#define PMIX_BCAST_BCAST_COPY_H

#include "pmix_bcast/bcast_begun.h"
#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/chunk_recent.h"
#include "pmix_bcast/chunk_tag.h"

struct bcast_copy {
    const struct bcast_order *order;
    struct destination file;
    uint8_t *index; /* owned, until it makes the tree: then the tree's */
    struct tree_copy *tree;     /* owned; NULL: none */
    struct room room;           /* that was asked for */
    struct chunk_recent recent; /* of a tree */
    uint64_t *offset;           /* of each chunk, and the end of the last */
    struct chunk_tag *tag;      /* of each chunk */
    uint8_t *lent;              /* of each chunk: 1 if somebody has its place */
    struct seal *seal;
    uint32_t verified; /* chunks that were read back */
    char why
        [BCAST_TEXT_MAX]; /* it failed: more than the errno value says, or "" */
};

/* Nothing is opened yet.  The order must outlive the copy; what it says was begun is
 * taken from the list, on failure, too. */
int bcast_copy_init(struct bcast_copy *c,
                    const struct bcast_order *order,
                    struct bcast_begun_list *begun,
                    const struct secret *secret);
/* What is not finished is removed. */
void bcast_copy_clear(struct bcast_copy *c);
int bcast_copy_open(struct bcast_copy *c);
size_t bcast_copy_size(const struct bcast_copy *c, uint32_t chunk);
/* Where the chunk is to be read to once it is ready, for who calls first; NULL:
 * anywhere else.  Make it ready, perhaps in another thread: NULL: anywhere else
 * after all.  A place of somebody else's is as it is. */
uint8_t *bcast_copy_place(struct bcast_copy *c, uint32_t chunk);
uint8_t *bcast_copy_ready(const struct bcast_copy *c,
                          uint32_t chunk,
                          uint8_t *place);
/* Somebody may read it there. */
int bcast_copy_is_lent(const struct bcast_copy *c, uint32_t chunk);
/* A chunk has come, of its right size; EBADMSG if the tag is not its own. */
int bcast_copy_put(struct bcast_copy *c,
                   uint32_t chunk,
                   const uint8_t *bytes,
                   const uint8_t tag[TAG_BYTES]);
/* Likewise, where its tag was found to be its own: with seal, which is not c's, so
 * that another thread may do this: 0, or an errno value. */
int bcast_copy_check(const struct bcast_copy *c,
                     struct seal *seal,
                     uint32_t chunk,
                     const uint8_t *bytes,
                     const uint8_t tag[TAG_BYTES]);
int bcast_copy_put_checked(struct bcast_copy *c,
                           uint32_t chunk,
                           const uint8_t *bytes,
                           const uint8_t tag[TAG_BYTES]);
/* All of it has come at once. */
int bcast_copy_put_all(struct bcast_copy *c, const uint8_t *bytes);
/* Is all of the chunk of files that were here before the broadcast?  Then take
 * it as it stands there: it gets its tag. */
int bcast_copy_was_here(const struct bcast_copy *c, uint32_t chunk);
int bcast_copy_take(struct bcast_copy *c, uint32_t chunk);
/* A chunk's bytes, for others: from fd (at c->offset), or if that is -1 by
 * bcast_copy_read(). */
int bcast_copy_fd(const struct bcast_copy *c);
int bcast_copy_read(struct bcast_copy *c, uint32_t chunk, uint8_t *bytes);
/* The digest of all tags. */
uint64_t bcast_copy_sum(const struct bcast_copy *c);
/* Read some chunks back, until `verified` is the number of them; EBADMSG if one
 * is not as it came. */
int bcast_copy_verify(struct bcast_copy *c);
/* All is there: for a tree's index, read it.  Then bcast_copy_finish() gives it
 * its name, or makes the tree of which this is the index.  It stays open for
 * those who get chunks from it. */
int bcast_copy_whole(struct bcast_copy *c);
int bcast_copy_finish(struct bcast_copy *c);
/* Of a tree, or of what is to be on the disk: finishing may take long.  It may
 * run in another thread while chunks are read, and these are called. */
int bcast_copy_takes_long(const struct bcast_copy *c);
unsigned bcast_copy_steps(const struct bcast_copy *c); /* grows meanwhile */
void bcast_copy_cancel(struct bcast_copy *c);
/* For the report, also where it could not be opened: what an errno value does not
 * say, or ""; and what home is to
 * know of a tree. */
const char *bcast_copy_why(const struct bcast_copy *c);
void bcast_copy_report(const struct bcast_copy *c, struct bcast_done *d);
/* If this has begun a file or a tree, put it into the list, for its content, and
 * nothing is read from this copy any more. */
void bcast_copy_hand_on(struct bcast_copy *c, struct bcast_begun_list *begun);
/* It has failed: remove it. */
void bcast_copy_abandon(struct bcast_copy *c);

#endif
