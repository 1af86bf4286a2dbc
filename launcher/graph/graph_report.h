/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_report.h - the reports of other workflow systems, as rows of times.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_REPORT_H
#define LAUNCHER_GRAPH_GRAPH_REPORT_H

#include "launcher/graph/graph_times.h"

/*
 * Add all of a report: Nextflow's trace, Snakemake's benchmark (its rows are
 * called as the file, unless it says its rule and wildcards) or Makeflow's log.
 * Which it is, its first line tells.  Fails with ES_USAGE, naming the line.
 *
 *   name  of the report, for messages and for Snakemake's rows
 *   text  is changed
 */
int graph_report_parse(struct graph_times *t,
                       const char *name,
                       char *text,
                       struct es_error *err);

/* Nextflow's durations: "1h 2m 3.5s", "350ms", or, of a raw trace, just the
 * milliseconds.  0, or -1 if it is none. */
int graph_duration_parse(const char *text, double *seconds);

#endif
