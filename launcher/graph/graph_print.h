/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_print.h - plans of a task graph, for people and for programs.
 *
 * All write to a stream and return 0, or -1 if memory runs out or the stream
 * has an error; the caller flushes it.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_PRINT_H
#define LAUNCHER_GRAPH_GRAPH_PRINT_H

#include "launcher/graph/graph_draft.h"
#include "policy/graph_plan.h"

#include <stdio.h>

/* One object in one line; evenstep-report(5). */
int graph_print_json(FILE *out,
                     const struct graph_file *f,
                     const struct graph_plan *p,
                     uint32_t cores);

/* The sums, then a line for each instance. */
int graph_print_table(FILE *out,
                      const struct graph_file *f,
                      const struct graph_plan *p);

/* A Gantt chart, a row for each core in use. */
int graph_print_svg(FILE *out,
                    const struct graph_file *f,
                    const struct graph_plan *p);

/* One way to run the graph, beside others. */
struct graph_row {
    const char *name; /* algorithm, or bound */
    const char *mode; /* grouping; "": none */
    int in_time;      /* -1: a bound, not a plan */
    uint32_t instances;
    struct schedule_sum sum;
};

int graph_print_rows(FILE *out,
                     const struct graph_row row[],
                     size_t n,
                     int json);

/* What a mode is called on the command line and in print. */
const char *graph_mode_name(enum grouping_mode mode);

#endif
