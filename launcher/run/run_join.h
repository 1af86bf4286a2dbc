/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_join.h - nodes that join a run: it opens a door for them (--joinable),
 * and takes in who has come and was measured when the next frame begins; of tasks at
 * once.
 */
#ifndef LAUNCHER_RUN_RUN_JOIN_H
#define LAUNCHER_RUN_RUN_JOIN_H

#include "launcher/run/run_state.h"

/* The first frame begins: nodes may join from now on, if that was asked for.  0,
 * or -1 and r->err filled. */
int run_join_open(struct run *r);
/* Is it one of those? */
int run_join_is_seat(const struct run *r, size_t node);
/* A node that is there once more, or has joined, has been measured: it works,
 * or will when the next frame begins. */
void run_join_measured(struct run *r, size_t node);
/* It is lost, and does not wait any more.  Was it told to leave? */
int run_join_lost(struct run *r, size_t node);
/* A frame is about to begin: those that wait are in.  0, or -1 and r->err
 * filled. */
int run_join_take_in(struct run *r);
/* The run is over, and later: nothing is left. */
void run_join_end(struct run *r);
void run_join_clear(struct run *r);

#endif
