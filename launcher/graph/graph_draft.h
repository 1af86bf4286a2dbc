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

#include "launcher/graph/graph_watts.h"
#include "pmix_bcast/error.h"
#include "policy/graph.h"

#include <jansson.h>

/* What a reader made of a file that does not say all: for people. */
struct graph_understood {
    const char *format;     /* what the file is */
    uint32_t guessed_kind;  /* tasks with the mean time of their rule */
    uint32_t guessed_all;   /* with that of all tasks */
    uint32_t guessed_given; /* with the one that was given */
    uint32_t targets;       /* that do nothing: no time */
    uint32_t done;          /* that the file says are done already */
    uint32_t passed;        /* nodes of the file that are no tasks */
    uint32_t by_tag;        /* edges between tasks of the same tag */
    uint32_t by_all;        /* from each task of a process to each of another */
};

/* A graph, and what its tasks are called. */
struct graph_file {
    struct graph *graph;
    json_t *ids; /* by task: a string or an integer, as in the file */
    struct graph_understood understood;
    struct watts watts; /* learnt; all 0: nothing is */
};

struct graph_draft {
    const char *name; /* of the file, for messages; owned by the caller */
    json_t *ids;      /* by task */
    json_t *index;    /* number of the task by its identifier's text */
    int64_t *time;
    struct graph_need *need; /* by task */
    struct graph_edge *edge;
    uint32_t edges;
    size_t time_room, need_room, edge_room;
    int has_needs; /* a task says what it needs */
    struct graph_understood understood;
    struct watts watts;
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

/*
 * What the task added last needs: cores, or 0 if it does not say, and bytes of
 * memory, likewise.  A negative one is a mistake of the file's.
 */
int draft_need(struct graph_draft *d,
               const char *place,
               double cores,
               double memory,
               struct es_error *err);

/* Bytes from a number or a text, as 2000000 or "8GiB"; 0 for NULL, negative if
 * it is neither. */
double draft_bytes(const json_t *value);

/* Another time for a task that is there; likewise of all edges. */
int draft_set_time(struct graph_draft *d,
                   const char *place,
                   uint32_t task,
                   double seconds,
                   struct es_error *err);
int draft_set_comms(struct graph_draft *d,
                    const char *place,
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
