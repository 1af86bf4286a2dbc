/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extraction.h - the extraction module: takes frames out of the work,
 * first in, first out.
 */
#ifndef LAUNCHER_RUN_EXTRACTION_H
#define LAUNCHER_RUN_EXTRACTION_H

#include "launcher/run/frame.h"
#include "pmix_bcast/error.h"

struct queue;
struct task_feed;

struct extraction {
    struct queue *queue;    /* NULL: the frames are as the rest says */
    struct task_feed *feed; /* likewise */
    uint64_t begin, end;    /* of every frame */
    uint64_t repeat;        /* frames in all; 0: as the queue has */
    uint64_t next;          /* number of the next one */
};

/* The next frame.  An enum extracted, or -1 if it cannot be had (*f untouched
 * but for EXTRACTED_FRAME). */
int extraction_next(struct extraction *x,
                    struct frame *f,
                    struct es_error *err);

#endif
