/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast_part.h - what a broadcast brings comes in parts: each input, a file or a
 * tree of files, and before a program its libraries.  A part is begun on the nodes,
 * and then its content comes.
 */
#ifndef LAUNCHER_SESSION_BROADCAST_PART_H
#define LAUNCHER_SESSION_BROADCAST_PART_H

#include "launcher/session/libs.h"
#include "pmix_bcast/bcast_home.h"
#include "pmix_bcast/tree_source.h"

#include <sys/stat.h>

struct event_base;
struct part_tree;

/* Its pointers must last until the broadcast has ended, but for `sources` itself. */
struct broadcast_input {
    struct bcast_wish wish;          /* how, and where to */
    const struct tree_wish *sources; /* with all that is in them: wish.source is
                                        not used.  NULL: the file that wish names */
    const struct libs *libs;         /* of that program; NULL: none */
};

struct broadcast_part { /* all zero: nothing is brought */
    struct bcast_wish wish;
    struct tree_wish sources; /* n is 0: the file that wish names */
    char *file;               /* that file, if it has holes */
    struct part_tree *tree;   /* that was read; NULL: it is a file */
    size_t input;             /* number of that which it is of */
    uint32_t begun;   /* id of the broadcast that has begun it; 0: none has */
    struct stat then; /* the file, when that was */
};

#define BROADCAST_PARTS 2u /* of an input */

/* The parts of an input, in their order; returns how many. */
size_t broadcast_parts_of(struct broadcast_part part[BROADCAST_PARTS],
                          const struct broadcast_input *in,
                          size_t number);
/* May one be where the other is, or within it?  Then it cannot be begun before that
 * one is there.  Nobody is asked: $TMPDIR may be any folder, ".." lead anywhere, and
 * symlinks are not known. */
int broadcast_part_overlaps(const struct broadcast_part *p,
                            const struct broadcast_part *other);
/* Is all in it to be read first?  A file with holes is a tree of it, whose index says
 * where they are. */
int broadcast_part_is_tree(struct broadcast_part *p);
/* Read it, in a thread: ended() is called once, from the loop, 0 or -1 with err, unless
 * the part is cleared before.  -1 with err: it could not be begun. */
int broadcast_part_read(struct broadcast_part *p,
                        struct event_base *base,
                        void (*ended)(void *arg, int result),
                        void *arg,
                        struct es_error *err);
const struct tree_source *broadcast_part_source(const struct broadcast_part *p);
/* Before it is begun, or its content comes: what home is to do.  -1 with err: the
 * source has changed meanwhile, or is gone. */
int broadcast_part_wish(struct broadcast_part *p,
                        int begins,
                        struct bcast_wish *wish,
                        struct es_error *err);
/* Forget what was read. */
void broadcast_part_clear(struct broadcast_part *p);

#endif
