/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_print.h - prints the report of a run, for people and for programs.
 *
 * All write to a stream and return 0, or -1 if memory runs out or the stream
 * has an error; the caller flushes it.
 */
#ifndef LAUNCHER_WHATIF_REPORT_PRINT_H
#define LAUNCHER_WHATIF_REPORT_PRINT_H

#include "launcher/whatif/report_file.h"

#include <stdio.h>

/* What a node did in the whole run. */
struct report_node {
    int64_t units;
    double share;       /* of all units, 0..1 */
    double busy;        /* seconds */
    size_t slices;      /* that were done */
    size_t failed;      /* that failed, or were lost with the node */
    double units_per_s; /* while busy; 0 if it never was */
};

/* Add up each node: f->nodes results, owned by the caller.  NULL if memory ran
 * out. */
struct report_node *report_sum(const struct report_file *f);

/* A line for every node, then one for every frame, then the run's. */
int report_print_table(FILE *out, const struct report_file *f);

/* One object in one line. */
int report_print_json(FILE *out, const struct report_file *f);

#endif
