/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work.h - the work of a run: where its frames come from, and what of them a
 * run before has done.
 */
#ifndef LAUNCHER_RUN_WORK_H
#define LAUNCHER_RUN_WORK_H

#include "launcher/base/lines.h"
#include "launcher/run/distribution.h"
#include "launcher/run/extraction.h"
#include "launcher/run/journal.h"
#include "launcher/run/piece_files.h"
#include "launcher/run/run_options.h"

struct work {
    struct extraction extraction;
    struct lines lines; /* of --lines */
    int grows;          /* tasks come yet, and so do their lines */
    uint64_t grain;
    struct journal *journal; /* NULL: none is kept */
    struct piece_files files;
};

/* there() is called from the event loop when a queue that had nothing may have
 * something.  *w is to be closed in any case. */
int work_open(struct work *w,
              const struct run_options *o,
              struct event_base *base,
              void (*there)(void *arg),
              void *arg,
              struct es_error *err);
void work_close(struct work *w);
/* Read the first lines of a queue.  0, or -1 and err: there is a bad one. */
int work_look(struct work *w, struct es_error *err);
/* At the end: warn of files of units that others have changed since. */
void work_tell_changes(const struct work *w);
/* Before the first work_next(): see to what a run before has left. */
int work_settle(struct work *w, struct es_error *err);
/* What work_next() has found. */
enum work_state {
    WORK_BEGUN, /* a frame, of which something is to be done and has been sent */
    WORK_DONE,  /* a frame that a run before has done: distribution_keep() */
    WORK_LATER, /* none yet: there() tells */
    WORK_END
};
/* Begin the next frame: an enum work_state, or -1.  What is wrong with the queue
 * is not told before the frames that are at work have come out. */
int work_next(struct work *w, struct distribution *d, struct es_error *err);
/* Tasks have come, or no more will: give them to the frame that grows, if there is one,
 * and say how it is now.  1, 0: nothing has changed, or -1. */
int work_grow(struct work *w,
              struct distribution *d,
              struct frame *frame,
              struct es_error *err);
/* Is it a list of tasks to which more may come? */
int work_is_open(const struct work *w);
/* Frames in all, or 0: as many as the queue has. */
uint64_t work_frames(const struct work *w);
/* Units of each of these. */
uint64_t work_units(const struct work *w);

#endif
