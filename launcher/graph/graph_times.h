/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_times.h - how long tasks took, as the reports of other workflow systems
 * say: a row for each task, in the report's own words.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_TIMES_H
#define LAUNCHER_GRAPH_GRAPH_TIMES_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stdint.h>

#define GRAPH_TIMES_MAX (1u << 20) /* rows */

enum times_kind { TIMES_NEXTFLOW, TIMES_SNAKEMAKE, TIMES_MAKEFLOW };

struct graph_time {
    char *name;
    double seconds; /* the mean of its measurements */
    double memory;  /* bytes at most; 0: it does not say */
    double cores;   /* 0: it does not say */
    unsigned measured;
    int is_used; /* a task has taken it */
};

struct graph_times {
    enum times_kind kind; /* of all rows */
    struct graph_time *row;
    uint32_t rows;
    size_t room;
    uint32_t failed; /* tries in the report that did not end well */
    json_t *index;   /* number of a row by its name */
};

/* A table without rows; release it by graph_times_clear(), also on failure. */
int graph_times_init(struct graph_times *t, struct es_error *err);
void graph_times_clear(struct graph_times *t);

/*
 * Add one more measurement: a row of its own, or the mean with what the row of
 * that name has.
 */
int graph_times_add(struct graph_times *t,
                    const struct graph_time *row,
                    struct es_error *err);
/* The row of that name, or NULL. */
struct graph_time *graph_times_find(const struct graph_times *t,
                                    const char *name);

#endif
