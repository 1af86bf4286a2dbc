/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_failures.h - what a run does when commands fail: it tries again, leaves
 * out what cannot be done, or ends.
 */
#ifndef LAUNCHER_RUN_RUN_FAILURES_H
#define LAUNCHER_RUN_RUN_FAILURES_H

#include "launcher/run/run_state.h"

/* How often, and what then, as the options say. */
void run_failures_rule(const struct run_options *o, struct failure_rule *rule);
/* What a command said on stderr, of which the agent kept the end. */
void run_failures_stderr(const struct run *r,
                         size_t slot,
                         const struct msg_done *m);
/* A piece has failed, and the dispatcher has been told.  The caller sends what
 * there is to be had, unless the run is over. */
void run_failures_piece(struct run *r,
                        struct piece *p,
                        const struct msg_done *m);
/* One still runs when --timeout is over, and will be lost with its node.  -1:
 * that is the end of the run, with r->err filled. */
int run_failures_late(struct run *r, struct piece *p);
/* A frame is written: what of it a run before has left out.  Returns how many
 * units. */
uint64_t run_failures_before(struct run *r, uint64_t frame);
/* The run has come to its end, but for what was left out, if anything was: then
 * -1, with r->err filled. */
int run_failures_end(struct run *r);

#endif
