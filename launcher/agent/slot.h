/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slot.h - a slot of a node: does the slices that it is given in their order,
 * each by a command of its own or all by one program that stays alive, beside
 * what the node's other slots do.
 *
 * What it has to say to the front end (protocol.h) it says by itself: OUTPUT,
 * FILE and DONE of each slice, METERED while it runs, IDLE and OVER of the program.
 */
#ifndef LAUNCHER_AGENT_SLOT_H
#define LAUNCHER_AGENT_SLOT_H

#include "launcher/agent/slot_common.h"

struct slot;

/* The first slot has number 0, and place (NULL: none) for itself; common and
 * place must outlive it.  NULL if memory ran out. */
struct slot *slot_create(struct slot_common *common,
                         uint32_t number,
                         const struct place *place);
/* Ends at once what runs, and forgets what waits; NULL is allowed. */
void slot_destroy(struct slot *s);

/* A slice that waits for its turn.  in_fd: its stdin, which is the slot's from
 * now on; 0: none.  0, or -1 if memory ran out (in_fd was closed). */
int slot_give(struct slot *s, const struct msg_run *run, int in_fd);
/* Start the next one, if the slot is free, or the program that will do them.
 * What cannot be started is answered as a slice that failed. */
void slot_start(struct slot *s);
/* Slices that it has to do. */
size_t slot_load(const struct slot *s);
/* Does a command run for a slice, or end because it was told to? */
int slot_is_busy(const struct slot *s);
/* The program gets no more slices: OVER follows when it has ended.  Where units are
 * tasks, no more of them are begun: slices that wait are answered as failed, and one at
 * hand ends with its task at hand. */
void slot_finish(struct slot *s);

/* Meter its slices from now on, if nothing runs; -1 if the order is none. */
int slot_meter(struct slot *s, const struct msg_meter *order);
/* Do not read (on != 0) what its command writes. */
void slot_hold(struct slot *s, int on);
/* Forget what waits, and let what runs see its SIGTERM: nothing more is said
 * of it. */
void slot_stop(struct slot *s);
/* The same of one slice, if it waits or its command runs here. */
void slot_cancel(struct slot *s, uint64_t id);

#endif
