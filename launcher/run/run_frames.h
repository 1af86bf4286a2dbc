/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_frames.h - a run's frames, which come out one after the other:
 *
 *   work -> distribution -> receiving -> determination -> job load adjuster
 *
 * With --ahead later ones begin before that.
 */
#ifndef LAUNCHER_RUN_RUN_FRAMES_H
#define LAUNCHER_RUN_RUN_FRAMES_H

#include "launcher/run/run_state.h"

/* The work ends, or a part of it: so do programs that stay alive. */
void run_frames_end(struct run *r);
/* The nodes are ready: begin with the first frame. */
void run_frames_begin(struct run *r);
/* A frame is done, or another one may begin: what is done comes out, and what
 * there is begins. */
void run_frames_next(struct run *r);
/* Likewise, when there may be a frame again. */
void run_frames_ask(struct run *r);
/* Likewise, when a list of tasks has grown, or has ended. */
void run_frames_grow(struct run *r);
/* Give the nodes what there is to be had. */
void run_frames_feed(struct run *r);

/* The run is done: name the nodes that had no work in it, and why, unless that was said
 * before. */
void run_frames_tell_idlers(const struct run *r);
/* The run has failed: the report gets the frames at work, as far as they came.
 */
void run_frames_report(struct run *r);

#endif
