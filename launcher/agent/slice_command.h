/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_command.h - in a slot of a node: does one slice at a time, each by a
 * command of its own, from its start in its folder until the files that it has
 * made are with the front end.
 */
#ifndef LAUNCHER_AGENT_SLICE_COMMAND_H
#define LAUNCHER_AGENT_SLICE_COMMAND_H

#include "launcher/agent/slot_common.h"

struct slice_command;

/* owner must outlive it; NULL if memory ran out. */
struct slice_command *slice_command_create(const struct slot_owner *owner);
/* Ends at once what runs; NULL is allowed. */
void slice_command_destroy(struct slice_command *x);

/* Start the command of a slice, if none runs, with this file as its stdin (0:
 * none), which is its from now on.  What cannot be started is answered as a
 * slice that failed; what was is followed by owner->ended(). */
void slice_command_start(struct slice_command *x,
                         const struct msg_run *run,
                         int in_fd);
/* Does a command run, or are its files still on their way? */
int slice_command_runs(const struct slice_command *x);
/* Do not read (on != 0) what it writes. */
void slice_command_hold(struct slice_command *x, int on);
/* Let it see its SIGTERM: nothing more is said of its slice. */
void slice_command_stop(struct slice_command *x);
/* It runs tasks (task_runner.h): the one at hand is the last. */
void slice_command_last(struct slice_command *x);
/* As slice_command_stop(), if it runs for this slice. */
void slice_command_cancel(struct slice_command *x, uint64_t id);

#endif
