/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_learn.h - what a run has measured is written into the file of the
 * graph, so that the next plan is right.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_LEARN_H
#define LAUNCHER_GRAPH_GRAPH_LEARN_H

#include "launcher/graph/graph_state.h"
#include "launcher/graph/graph_watts.h"
#include "policy/machine.h"

struct energy_watch;

struct graph_measured {
    double *seconds; /* by task; -1: not measured */
    double *sent;    /* by file: seconds to bring it; -1: it was not sent */
    uint64_t *bytes; /* by file */
};

/* 0, or -1 if memory ran out; graph_measured_clear() in both cases. */
int graph_measured_init(struct graph_measured *m,
                        uint32_t tasks,
                        uint32_t files);
void graph_measured_clear(struct graph_measured *m);
/* The mean of each task's places that are done. */
void graph_measured_tasks(struct graph_measured *m,
                          const struct graph_state *s,
                          const struct machine *on);

/* Add a point for each node whose joules were counted since the run began; e
 * may be NULL.  Busy are the cores of its tasks. */
void graph_measured_watts(struct watts *w,
                          const struct graph_state *s,
                          const struct machine *m,
                          const struct energy_watch *e);

/*
 * Write it into the file of the graph, which is replaced in one step.
 *
 * Into evenstep's own format: the times of tasks, and for each edge with files
 * the seconds that they took, or would take at the mean rate where that was not
 * measured.  Into WfFormat: times and sizes; it has no place for the rate, so a
 * notice tells it.  Into both: the watts, if there are points of them.
 */
int graph_learn(const char *path,
                const struct graph_work *w,
                const struct graph_measured *m,
                const struct watts *watts,
                struct es_error *err);

#endif
