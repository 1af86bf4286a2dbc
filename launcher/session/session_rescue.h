/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_rescue.h - a second step for the agents of a session that has begun.
 *
 * srun ends a whole step where Slurm cannot start it on one of its nodes.  Agents
 * that are lost by that are started once more, in a step of the nodes that had
 * them, and call as nodes that were lost and are back.  Who cancels the step wants
 * its end: that is the end of the run, too.
 *
 * The loss of a node is told at once, as always.  When the last one is lost,
 * session_is_rescued() holds until one is back, or stranded() says that none will
 * be.  Agents that got a SIGTERM are to end: those are not started again.
 */
#ifndef LAUNCHER_SESSION_SESSION_RESCUE_H
#define LAUNCHER_SESSION_SESSION_RESCUE_H

#include "launcher/session/session_state.h"

/* A node's agent is lost, which is not told yet. */
void session_rescue_lost(struct session *s, size_t node);
/* A node's agent leaves, as it got a SIGTERM. */
void session_rescue_refuse(struct session *s);
/* srun says that it ends its step, or has ended. */
void session_rescue_look(struct session *s);
/* srun tells of agents that have ended: 1 if that is a second step's, whose ranks
 * are not the session's, and dealt with. */
int session_rescue_absent(struct session *s, const struct launch_absent *a);
/* An agent that was lost is READY, which is not told yet. */
void session_rescue_back(struct session *s, const struct msg_ready *ready);
/* Of a session that ends. */
void session_rescue_clear(struct session *s);

#endif
