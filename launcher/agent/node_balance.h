/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_balance.h - the performance balancer within a node: what the node may
 * have goes from the ranks, or packages, that wait to the one that comes last;
 * and from thread to thread of a rank, where these are pinned and meter
 * themselves.
 *
 * The levels core and processor of US 9,477,533.  It needs no front end: the
 * node's limit is given from there, and is divided here, by power_step() over
 * the parts that the guard has found.  Until something is to be gained the
 * node's limit is one for all of its ranks, so that a node whose ranks are alike
 * is left as it is; and again if it does not make the program faster
 * (steering_worth.h).
 */
#ifndef LAUNCHER_AGENT_NODE_BALANCE_H
#define LAUNCHER_AGENT_NODE_BALANCE_H

#include "launcher/libevenstep/meter_page.h"
#include "launcher/wire/parts_line.h"

struct event_base;
struct node_balance;

/* Set these limits of the n parts, and this one of the node, which is in force
 * already. */
typedef void (*node_balance_fn)(void *arg,
                                uint64_t limit,
                                const uint64_t part[],
                                size_t n);

/* These threads, of processes of which several tell how they get on, could be
 * parts.  node_balance_parts() says if they are. */
typedef void (*node_balance_threads_fn)(void *arg,
                                        const pid_t thread[],
                                        size_t n);

/* Watch a page every interval.  NULL if memory ran out. */
struct node_balance *node_balance_start(struct event_base *base,
                                        const struct meter_page *page,
                                        uint32_t interval_ms,
                                        node_balance_fn fn,
                                        void *arg);
/* Tell fn of threads, with the arg of the start. */
void node_balance_threads(struct node_balance *b, node_balance_threads_fn fn);
/* What part of its most a node, or a part, must have at least. */
void node_balance_lowest(struct node_balance *b, double lowest);
/* The guard has found these parts, or none. */
void node_balance_parts(struct node_balance *b, const struct node_parts *p);
/* The node is given another limit, 0: none.  Returns the number of parts whose
 * limits are to go with it. */
size_t node_balance_limit(struct node_balance *b,
                          uint64_t limit,
                          uint64_t part[PARTS_MAX]);
/* The oldest order that is not answered yet has been.  1 if it was fn's. */
int node_balance_answered(struct node_balance *b, int is_set);
/* NULL is allowed. */
void node_balance_stop(struct node_balance *b);

#endif
