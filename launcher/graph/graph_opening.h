/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_opening.h - the nodes open their folders; when all have, they say how
 * fast they are, the plan is made and its tasks are sent.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_OPENING_H
#define LAUNCHER_GRAPH_GRAPH_OPENING_H

#include "launcher/graph/graph_running.h"

/* Ask a node to open its folder. */
int graph_opening_ask(struct graph_running *r, uint32_t node);
int graph_opening_ask_all(struct graph_running *r);
/* A node has; or one that was lost has again. */
void graph_opening_answered(struct graph_running *r,
                            uint32_t node,
                            const struct graph_opened *m);
/* Hear of a node's speed, which is measured when all have opened; when all are
 * known the run begins.  1 if the message was for us, else 0. */
int graph_opening_message(struct graph_running *r,
                          uint32_t node,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len);
/* Where the nodes keep their folders. */
const char *graph_opening_folder(const struct graph_running *r);

#endif
