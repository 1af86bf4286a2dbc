/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work.h - the work of a run: where its frames come from, and what of them a
 * run before has done.
 */
#ifndef LAUNCHER_RUN_WORK_H
#define LAUNCHER_RUN_WORK_H

#include "launcher/base/lines.h"
#include "launcher/run/distribution.h"
#include "launcher/run/journal.h"
#include "launcher/run/run_options.h"

struct work {
    struct extraction extraction;
    struct lines lines;      /* of --lines */
    struct journal *journal; /* NULL: none is kept */
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
/* Send what of a frame is not done: 1 if there is something, 0 if a run before
 * has done all of it, -1 on failure. */
int work_begin(struct work *w,
               const struct frame *frame,
               struct distribution *d,
               struct es_error *err);

#endif
