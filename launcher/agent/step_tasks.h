/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_tasks.h - the tasks of a step on this node, which are Slurm's, fed with
 * slices by its agent: they share the node's slice of every frame.
 *
 * What it has to say to the front end (protocol.h) it says by itself: IDLE when
 * all tasks ask for their first slice, DONE when all have done their parts and
 * ask again, OVER when one has closed or ended, or (ETIMEDOUT) has waited for
 * its first slice for too long: then some task of the step does not ask.  And
 * PORTS, see task_ports.h.
 *
 * Tasks that survive the loss of nodes (evenstep.h) are kept while the front
 * end cannot be reached: step_tasks_away(), then step_tasks_again().
 */
#ifndef LAUNCHER_AGENT_STEP_TASKS_H
#define LAUNCHER_AGENT_STEP_TASKS_H

#include "launcher/agent/feeder.h"

struct step_tasks;

/* Send what w holds, and clear it. */
typedef void (*step_tasks_send_fn)(void *arg,
                                   enum protocol_type type,
                                   struct writer *w);

/* Listen for the tasks of that step, which others reach at ip (16 bytes, which
 * outlive t).  Fails as feeder_open(). */
int step_tasks_open(struct step_tasks **t,
                    struct event_base *base,
                    const struct msg_tasks *step,
                    const uint8_t *ip,
                    step_tasks_send_fn sender,
                    void *arg,
                    struct es_error *err);
/* A slice for them.  0, or -1 if they have not done the one before. */
int step_tasks_run(struct step_tasks *t, const struct msg_run *run);
/* 1 if they go on without a node that is lost. */
int step_tasks_survive(const struct step_tasks *t);
/* The front end is out of reach: the slice at hand is nobody's any more. */
void step_tasks_away(struct step_tasks *t);
/* It is back: IDLE follows when all tasks ask, or OVER if one had ended. */
void step_tasks_again(struct step_tasks *t);
/* How a round of evenstep_listen() ended; see task_ports_end(). */
void step_tasks_ports(struct step_tasks *t, uint32_t round, uint32_t error);
/* There are no more. */
void step_tasks_over(struct step_tasks *t, const struct msg_over *over);
/* NULL is allowed. */
void step_tasks_close(struct step_tasks *t);

#endif
