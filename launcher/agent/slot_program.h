/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slot_program.h - in a slot of a node: the program that stays alive and does all
 * of its slices, one after another; it is started when the first is there, or
 * all nodes are measured, and again for the next if it has ended.
 */
#ifndef LAUNCHER_AGENT_SLOT_PROGRAM_H
#define LAUNCHER_AGENT_SLOT_PROGRAM_H

#include "launcher/agent/slice_queue.h"
#include "launcher/agent/slot_common.h"

struct slot_program;

/* owner must outlive it; NULL if memory ran out. */
struct slot_program *slot_program_create(const struct slot_owner *owner);
/* Ends it at once; NULL is allowed. */
void slot_program_destroy(struct slot_program *p);

/* Give it the next slice, if it has none; what cannot be started is answered as
 * a slice that failed.  owner->done() follows, or owner->ended(). */
void slot_program_feed(struct slot_program *p, struct slice_queue *waiting);
/* It gets no more slices: OVER follows when it has ended. */
void slot_program_finish(struct slot_program *p);
int slot_program_runs(const struct slot_program *p);
/* Has it a slice? */
int slot_program_has_slice(const struct slot_program *p);
/* Was it told to end, and has not yet? */
int slot_program_is_ending(const struct slot_program *p);
/* Do not read (on != 0) what it writes. */
void slot_program_hold(struct slot_program *p, int on);
/* Let it see its SIGTERM: nothing more is said of its slice. */
void slot_program_stop(struct slot_program *p);

#endif
