/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_format.h - the formats of task graphs: one reader each.
 *
 * Each adds what it finds to a draft and returns 0, or -1 with err, which
 * names the place.  The formats are described in evenstep-report(5).
 */
#ifndef LAUNCHER_GRAPH_GRAPH_FORMAT_H
#define LAUNCHER_GRAPH_GRAPH_FORMAT_H

#include "launcher/graph/graph_draft.h"
#include "launcher/graph/graph_times.h"

/* What some formats do not say. */
struct graph_reading {
    double rate;  /* bytes/s between processors, for files that know bytes */
    double ccr;   /* mean communication over mean time of a task, for files
                    that know no communication */
    double guess; /* seconds of a task whose time is nowhere; 0: none */
    struct graph_times *times; /* of reports; NULL: none */
};

/*
 * evenstep's own: {"tasks":[{"id":1,"time":2}],
 * "edges":[{"from":1,"to":2,"comm":4}]}, in seconds.
 */
int graph_read_own(struct graph_draft *d,
                   const json_t *all,
                   struct es_error *err);

/* WfCommons' WfFormat 1.5: https://wfcommons.org/format */
int graph_read_wfformat(struct graph_draft *d,
                        const json_t *all,
                        const struct graph_reading *how,
                        struct es_error *err);

/*
 * Standard Task Graph: the number of tasks without the two dummies, then a
 * line each: `id time npred pred...`; # starts the comment at the end.
 * https://www.kasahara.cs.waseda.ac.jp/schedule/format_e.html
 */
int graph_read_stg(struct graph_draft *d,
                   const char *text,
                   const struct graph_reading *how,
                   struct es_error *err);

/* Makeflow's JSON: rules, each with its command, inputs and outputs. */
int graph_read_makeflow(struct graph_draft *d,
                        const json_t *all,
                        const struct graph_reading *how,
                        struct es_error *err);

/*
 * Graphviz: digraph { v [time=2]; u -> v [comm=4] }, in seconds; or what
 * Snakemake's --dag and Nextflow's -with-dag write, graph_snakemake.h and
 * graph_dot.c.
 */
int graph_read_dot(struct graph_draft *d,
                   const char *text,
                   const struct graph_reading *how,
                   struct es_error *err);

#endif
