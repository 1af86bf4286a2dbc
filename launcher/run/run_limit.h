/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_limit.h - what stops a run (run_stop.h): the end of its job, of which
 * Slurm is asked, and a SIGTERM.
 */
#ifndef LAUNCHER_RUN_RUN_LIMIT_H
#define LAUNCHER_RUN_RUN_LIMIT_H

#include "launcher/run/run_state.h"

/* Slurm's KillWait, from its SIGTERM to its SIGKILL, is 30 s by default; some
 * of them are for what comes after the commands. */
#define STOP_GRACE_S 20

/* After the front has been begun.  0, or -1 and r->err filled. */
int run_limit_start(struct run *r);
/* Now and then, after feeding. */
void run_limit_look(struct run *r);
void run_limit_close(struct run *r);

#endif
