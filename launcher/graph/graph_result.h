/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_result.h - prints how a task graph ran, beside its plan.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_RESULT_H
#define LAUNCHER_GRAPH_GRAPH_RESULT_H

#include "launcher/base/report_out.h"
#include "launcher/graph/graph_state.h"
#include "launcher/graph/graph_watts.h"
#include "launcher/session/energy.h"
#include "launcher/session/session.h"
#include "policy/schedule.h"

#include <stdio.h>

struct graph_result {
    const struct graph_file *f;
    const struct graph_state *state;
    const struct machine *machine;
    const struct schedule_sum *planned;
    const struct session *session;
    const struct energy_watch *energy; /* NULL: not watched */
    const struct watts *watts;         /* of this run and those before it */
    double messages_s; /* of all files on their way between nodes */
};

/*
 * Print it: the sums and a line for each instance, or with json one object in
 * one line.  Energy is the plan's model with the times that were measured;
 * what was measured itself stands beside it.
 * 0, or -1 if memory runs out or the stream has an error; the caller flushes.
 */
int graph_result_print(FILE *out, const struct graph_result *r, int json);
/* The lines of a report: the sums, and each instance.  Nothing is written if out
 * is of no file. */
int graph_result_report(struct report_out *out,
                        const struct graph_result *r,
                        struct es_error *err);

#endif
