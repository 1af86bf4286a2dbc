/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_draft.h - a task graph while its file is being read.
 *
 * The readers of all formats add tasks and edges, by the identifiers of the
 * file and with times in seconds.  Whether they make a graph is found out here.
 * Every error names the file and the place in it that the reader gives.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_DRAFT_H
#define LAUNCHER_GRAPH_GRAPH_DRAFT_H

#include "pmix_bcast/error.h"
#include "policy/graph.h"

#include <jansson.h>

/* A graph, and what its tasks are called. */
struct graph_file {
    struct graph *graph;
    json_t *ids; /* by task: a string or an integer, as in the file */
};

struct graph_draft {
    const char *name; /* of the file, for messages; owned by the caller */
    json_t *ids;      /* by task */
    json_t *index;    /* number of the task by its identifier's text */
    int64_t *time;
    struct graph_edge *edge;
    uint32_t edges;
    size_t time_room, edge_room;
};

/* Release by draft_clear(), also on failure. */
int draft_init(struct graph_draft *d, const char *name, struct es_error *err);
void draft_clear(struct graph_draft *d);

/*
 * Add a task.
 *
 *   place    where in the file, e.g. "tasks[3]"; NULL: the identifier will do
 *   id       a JSON string or integer; not taken over
 *   seconds  from 0
 */
int draft_task(struct graph_draft *d,
               const char *place,
               const json_t *id,
               double seconds,
               struct es_error *err);

/* The number of a task, or GRAPH_NOBODY with err. */
uint32_t draft_find(const struct graph_draft *d,
                    const char *place,
                    const json_t *id,
                    struct es_error *err);

/* Add an edge between tasks that are there. */
int draft_edge(struct graph_draft *d,
               const char *place,
               uint32_t from,
               uint32_t to,
               double seconds,
               struct es_error *err);

/* Make the graph, and hand over the identifiers. */
int draft_finish(struct graph_draft *d,
                 struct graph_file *f,
                 struct es_error *err);

/* Fail with "NAME: place: what". */
int draft_fail(const struct graph_draft *d,
               const char *place,
               const char *mend,
               const char *what,
               struct es_error *err);

#endif
