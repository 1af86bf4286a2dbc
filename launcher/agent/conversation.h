/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conversation.h - what an agent and its front end say to each other: HERE; FENCE,
 * when all agents are there; READY; then what the agent is to do, each order handed
 * to agent_orders.h, and what came of it; until one of them leaves.  With LINGER
 * another front end goes on with it.
 *
 * It ends the event loop: when all are there, and when it is over and nothing
 * runs any more.
 */
#ifndef LAUNCHER_AGENT_CONVERSATION_H
#define LAUNCHER_AGENT_CONVERSATION_H

#include "launcher/agent/peers.h"

struct conversation;
struct throttle;

/* Orders also come by our parent in the tree: peers_open() gets these, with the
 * conversation. */
extern const struct table_tree_events conversation_tree_events;

/* p need not be open yet; what is pointed to must outlive it.  NULL if memory ran
 * out. */
struct conversation *conversation_create(struct event_base *base,
                                         const struct agent_setup *setup,
                                         struct peers *p);
/* Ends all that runs; NULL is allowed. */
void conversation_destroy(struct conversation *c);

/* Call the front end; the peers are open. */
int conversation_call(struct conversation *c, struct es_error *err);
/* From now on orders are taken; throttle (NULL: full speed) must outlive it. */
int conversation_begin_work(struct conversation *c,
                            struct throttle *throttle,
                            struct es_error *err);
/* Say READY, and whether the next of the ring can be reached. */
void conversation_ready(struct conversation *c);
/* Say for how long this machine was stopped; arg is the conversation. */
void conversation_tell_clock(void *arg);
/* A signal has come: leave.  Slurm ends us by SIGTERM, which is told before. */
void conversation_end(struct conversation *c, int number);

/* Is it over, but for what runs? */
int conversation_is_leaving(const struct conversation *c);
/* The front end, as far as it can be reached. */
const struct front_link *conversation_front(const struct conversation *c);

#endif
