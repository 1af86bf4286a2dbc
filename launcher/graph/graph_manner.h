/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_manner.h - how a task is to be run, besides its command: its
 * environment, how long at most, how often again.  What a file asks for and
 * nobody would do is an error that names it.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_MANNER_H
#define LAUNCHER_GRAPH_GRAPH_MANNER_H

#include "launcher/graph/graph_work.h"

/* Are the keys of all, its tasks and edges such that `graph run` knows?  Else
 * -1 with ES_USAGE. */
int graph_manner_check(const json_t *all,
                       const char *path,
                       struct es_error *err);

/*
 * Add to a task, whose words are known, what the file says.
 *
 *   all      the file
 *   at       its task, rule or execution
 */
int graph_manner_read(struct graph_work_task *t,
                      const json_t *all,
                      const json_t *at,
                      const char *path,
                      struct es_error *err);

#endif
