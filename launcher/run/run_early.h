/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_early.h - a run that begins before all its nodes are here and measured, as a
 * slow one takes a while: it has its part in what is cut, and gets it when it is.
 *
 * Only where it can be guessed what the late ones are, where each node is sent its
 * work by what pieces cost and runs one command at a time, and where nothing else
 * needs to know all nodes first.
 */
#ifndef LAUNCHER_RUN_RUN_EARLY_H
#define LAUNCHER_RUN_RUN_EARLY_H

#include "launcher/run/run_state.h"

/* Of a node: */
enum early_stage {
    EARLY_KNOWN,
    EARLY_AWAITED,
    EARLY_GIVEN_UP /* it has not come, and may yet */
};

/* May it, by what it is to do? */
int run_early_may(const struct run *r);
/* Some nodes may be missing: 1 if it can begin, and then those are awaited; 0 if it
 * must wait for them, -1 and r->err filled. */
int run_early_begin(struct run *r);
/* The frames are about to begin: who is still awaited gets nothing yet.  0, or -1
 * and r->err filled. */
int run_early_await(struct run *r);
/* Is a node yet to come or to be measured; is any? */
int run_early_is_awaited(const struct run *r, size_t node);
int run_early_is_waiting(const struct run *r);
/* A node is measured that may not have been before: then 1, and it is taken in, or
 * -1 and r->err filled. */
int run_early_measured(struct run *r, size_t node);
/* It is lost, and not awaited any more. */
void run_early_lost(struct run *r, size_t node);
void run_early_clear(struct run *r);

#endif
