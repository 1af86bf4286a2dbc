/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - what a person sees while `evenstep run` works: on a terminal
 * one line that is redrawn (a bar, units, rate, time left, efficiency),
 * elsewhere plain lines: of frames that have ended, and of one that takes long.
 */
#ifndef LAUNCHER_RUN_PROGRESS_H
#define LAUNCHER_RUN_PROGRESS_H

#include "launcher/run/distribution.h"
#include "launcher/run/log_pace.h"
#include "launcher/run/progress_text.h"
#include "launcher/run/report.h"
#include "launcher/run/tally.h"
#include "policy/account.h"

struct progress {
    struct tally tally;
    struct log_pace pace;
    struct progress_frames untold; /* that have no line yet */
    int terminal;
    int are_tasks;   /* units: they are counted, and no frames */
    uint64_t failed; /* tasks */
    uint64_t seen;   /* of them, in the frames that have begun */
    int is_open;     /* more of them may come */
    int is_followed; /* likewise, at first: it may have waited for them; or a task
                         needs more than a slot: so no efficiency is known */
    int64_t drawn_ns;          /* when the line was last drawn */
    uint64_t ended;            /* frames */
    uint64_t pieces, silent;   /* done, and of these printed nothing */
    struct account_result sum; /* of these, or of the run so far */
};

/* As of tally_start(); are they tasks? */
void progress_start(struct progress *p,
                    uint64_t frames,
                    uint64_t units,
                    int are_tasks);
/* A frame begins, of which a run before has done so many units. */
void progress_begin(struct progress *p, const struct frame *f, uint64_t before);
/* The frame that has begun last has more units now. */
void progress_grow(struct progress *p, const struct frame *f);
/* Units have come back, and count. */
void progress_units(struct progress *p, uint64_t units);
/* A piece has come back that counts, with so many bytes of output. */
void progress_piece(struct progress *p, uint64_t bytes);
/* To be called now and then; redraws at most ten times a second. */
void progress_look(struct progress *p, const struct distribution *d);
/* How far the run is, and its efficiency so far (-1: nothing is done). */
struct tally_now progress_now(const struct progress *p,
                              const struct distribution *d,
                              double *efficiency);
/* The first frame is done.  run: where frames overlap the run so far, of which is
 * told then; else NULL. */
void progress_frame(struct progress *p,
                    const struct distribution *d,
                    const struct account_result *account,
                    const struct account_result *run,
                    int adjusted);
void progress_end(struct progress *p, const struct summary *s);
/* Take the line away. */
void progress_stop(struct progress *p);

#endif
