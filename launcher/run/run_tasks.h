/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_tasks.h - a run whose units are tasks, one process each (--each, evenstep
 * tasks): what came of each task of a piece.
 *
 * A task that fails is done, and has failed: the piece it is in counts, and its
 * neighbours are not done again.  What a task has printed goes to stdout in the
 * order of the tasks, and to stderr as its piece comes back.
 */
#ifndef LAUNCHER_RUN_RUN_TASKS_H
#define LAUNCHER_RUN_RUN_TASKS_H

#include "launcher/run/run_state.h"

/* What the agents are told as the command: task_runner.h.  To be freed; its words
 * are not.  NULL: no memory. */
char **run_tasks_command(struct run *r);

/*
 * A node's piece has come back: take apart what it has sent.  *is_done is how it
 * ended, and how it is to be taken: as failed, if all that failed may be the node's
 * fault.  Where only some of its tasks have been done, it is cut to these.  0, or -1
 * with r->err.
 */
int run_tasks_hear(struct run *r,
                   size_t node,
                   struct msg_done *m,
                   int *is_done);
/* That piece counts: it has the text of its tasks for its output; what failed is
 * told, logged and kept.  Likewise. */
int run_tasks_keep(struct run *r, struct piece *p);
/* What a piece has sent, in the order of sending: how far its node is with it.  1: it is
 * at a long task, and those behind that are for others now, which are to be fed; else 0.
 * *done is then those before it, as a piece that has come back, for run_tasks_keep(), or
 * NULL. */
int run_tasks_output(struct run *r,
                     size_t node,
                     const struct msg_output *m,
                     struct piece **done);
/* The task that has run for longest of those that run now: its text, cut to what there
 * is room for, its node, and since when, which is when the one before it in its slot
 * ended; task "" if none runs.  arg is the run.  O(slots). */
void run_tasks_longest(void *arg, struct top_longest *longest);
/* A node is lost, or (RUN_ALL_NODES) the run ends: tasks of its pieces that are done
 * count.  Likewise. */
int run_tasks_rescue(struct run *r, size_t node);
/* --halt soon has let what runs end: fill r->err with why nothing more has begun. */
void run_tasks_halted(struct run *r);
/* Which task a unit is: "cmds:4: false", or "task 4: gzip a.txt"; arg is the run. */
void run_tasks_name(void *arg, uint64_t unit, char *text, size_t size);
void run_tasks_clear(struct run_tasks *t);

#endif
