/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_speeds.h - how fast the nodes of a task graph's run are, to each other:
 * as the user says, as --local has them, or as the nodes' qualification says.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_SPEEDS_H
#define LAUNCHER_GRAPH_GRAPH_SPEEDS_H

#include "launcher/graph/graph_wish.h"
#include "launcher/session/qualification.h"

/* Nodes whose cores differ by no more than this factor are alike: two probes of
 * one node do, and then plans are those of equal nodes.  As METRIC_ALIKE. */
#define GRAPH_SPEEDS_ALIKE METRIC_ALIKE

struct graph_speeds {
    struct qualification_setup setup;
    struct qualification qualification; /* begun: by setup.probe */
};

/*
 * Ask the nodes, if that is wanted; then qualification.missing says how many
 * are still to answer, and 0 that nothing is to be waited for.  0, or -1 with
 * err; clear it in both cases.
 */
int graph_speeds_start(struct graph_speeds *s,
                       struct session *session,
                       const struct graph_run_wish *wish,
                       struct es_error *err);
void graph_speeds_clear(struct graph_speeds *s);

/*
 * When nothing is missing: the slowness of each node, 1 or more: how many times
 * as long as on the fastest a task takes there.
 *
 *   kind  one a node: cores are read, slowness is written
 *   own   CPU cores of each node that its work may use, which C is of
 *
 * Returns 0, or -1 with err if --speeds are not as many as there are nodes.
 */
int graph_speeds_settle(const struct graph_speeds *s,
                        const struct graph_run_wish *wish,
                        const uint32_t own[],
                        struct processor_kind kind[],
                        uint32_t nodes,
                        struct es_error *err);

/* The same from what the nodes measured of C, 0 or NaN where it is not known:
 * then all are alike.  Pure. */
void graph_speeds_of(const double measured[],
                     const uint32_t own[],
                     struct processor_kind kind[],
                     uint32_t nodes);

#endif
