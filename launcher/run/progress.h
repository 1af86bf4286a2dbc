/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - what a person sees while `evenstep run` works: on a terminal
 * one line that is redrawn (a bar, time left, frames a second, efficiency),
 * elsewhere a plain line a frame.
 */
#ifndef LAUNCHER_RUN_PROGRESS_H
#define LAUNCHER_RUN_PROGRESS_H

#include "launcher/run/distribution.h"
#include "launcher/run/report.h"
#include "policy/determination.h"

struct progress {
    uint64_t frames; /* in all; 0: nobody knows */
    int terminal;
    int64_t start_ns;
    int64_t drawn_ns;  /* when the bar was last drawn */
    uint64_t done;     /* frames */
    double efficiency; /* mean of these */
};

void progress_start(struct progress *p, uint64_t frames);
/* Something of the frame has come back; redraws at most ten times a second. */
void progress_piece(struct progress *p, const struct distribution *d);
void progress_frame(struct progress *p,
                    const struct distribution *d,
                    const struct determination *t,
                    int adjusted);
void progress_end(struct progress *p, const struct summary *s);
/* Take the bar away. */
void progress_stop(struct progress *p);

#endif
