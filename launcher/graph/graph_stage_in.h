/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_stage_in.h - tasks go to their nodes, and what they wait for follows.
 *
 * Each returns 0, or -1 with r->err filled.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_STAGE_IN_H
#define LAUNCHER_GRAPH_GRAPH_STAGE_IN_H

#include "launcher/graph/graph_running.h"

/* Have all that a place waits for brought to its node.  What no node has yet
 * follows when it is made. */
int graph_stage_in(struct graph_running *r, uint32_t place);
/* The same for all places that wait for a task; on one node, or GRAPH_NOBODY
 * for all. */
int graph_stage_in_followers(struct graph_running *r,
                             uint32_t task,
                             uint32_t node);
int graph_send_task(struct graph_running *r, uint32_t place);
/* Tell a node that the file it has is the one that was made. */
void graph_send_here(struct graph_running *r, uint32_t node, uint32_t token);
/* Add a place, tell its node, and send what it waits for. */
int graph_add_place(struct graph_running *r, const struct place *p);

#endif
