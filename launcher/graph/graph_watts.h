/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_watts.h - what a core draws, as the counters of the runs of a graph have
 * told (watts.h): kept in the graph's file, by --learn, as
 *
 *   "watts": {"busy": 11.5, "idle": 2.1, "points": 8,
 *             "sums": [bb, bi, ii, bj, ij]}
 *
 * The sums are of all runs so far; busy and idle are there once they are fitted,
 * for people.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_WATTS_H
#define LAUNCHER_GRAPH_GRAPH_WATTS_H

#include "policy/watts.h"

#include <jansson.h>

/* From the file's JSON; all 0 where it has none.  -1 if they are not what
 * graph_watts_write() writes. */
int graph_watts_read(struct watts *w, const json_t *all);
/* Into it.  0, or -1 if memory ran out. */
int graph_watts_write(json_t *all, const struct watts *w);

#endif
