/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_guess.h - times of tasks that no report has, from those that are like
 * them, and communication that no file has.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_GUESS_H
#define LAUNCHER_GRAPH_GRAPH_GUESS_H

#include "launcher/graph/graph_format.h"

/* What is known, of all tasks of a draft. */
struct graph_timing {
    double *seconds; /* by task; below 0: not known */
    uint32_t *kind;  /* by task: its rule or process, from 0 */
    uint32_t kinds;
};

/* For up to n tasks, none known: 0, or -1 without memory.  To be released by
 * graph_timing_clear() in both cases. */
int graph_timing_init(struct graph_timing *t, uint32_t n);
void graph_timing_clear(struct graph_timing *t);

/*
 * Give the tasks of the draft their times, and its edges their communication,
 * how->ccr times the mean time.  What is not known is the mean of the task's
 * kind, or how->guess, or the mean of all; the draft's understood counts each.
 * Fails with ES_USAGE if nothing is known.
 */
int graph_guess(struct graph_draft *d,
                const struct graph_timing *t,
                const struct graph_reading *how,
                struct es_error *err);

#endif
