/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_run.h - run a task graph on the nodes of an allocation, by a plan.
 *
 * A processor of the plan is a node.  The nodes run the tasks (graph_node.h)
 * and fetch files from each other.  The front end decides what runs where, who
 * fetches what from whom, and what is done when something fails or is lost.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_RUN_H
#define LAUNCHER_GRAPH_GRAPH_RUN_H

#include "launcher/graph/graph_wish.h"

/* Run it to its end; 0, or -1 with err.  Prints plan and reality on stdout. */
int graph_run(const struct graph_run_wish *wish,
              const struct graph_file *f,
              struct es_error *err);

#endif
