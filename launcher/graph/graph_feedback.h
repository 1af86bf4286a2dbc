/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_feedback.h - what the nodes say of tasks and files.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_FEEDBACK_H
#define LAUNCHER_GRAPH_GRAPH_FEEDBACK_H

#include "launcher/graph/graph_running.h"

void graph_feedback_done(struct graph_running *r,
                         uint32_t node,
                         const struct graph_done *m);
void graph_feedback_brought(struct graph_running *r,
                            uint32_t node,
                            const struct graph_brought *m);
/* For the exchange: a result has come, or (why) has not. */
void graph_take_result(void *running,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why);

#endif
