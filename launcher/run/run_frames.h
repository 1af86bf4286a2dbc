/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_frames.h - a run's frames, one after the other:
 *
 *   work -> distribution -> receiving -> determination -> job load adjuster
 */
#ifndef LAUNCHER_RUN_RUN_FRAMES_H
#define LAUNCHER_RUN_RUN_FRAMES_H

#include "launcher/run/run_state.h"

/* The nodes are ready: begin with the first frame. */
void run_frames_begin(struct run *r);
/* Begin the next one, if there is one. */
void run_frames_next(struct run *r);
/* Every unit of a frame is done. */
void run_frames_done(struct run *r);

#endif
