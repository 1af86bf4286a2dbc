/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_stage_out.h - results go to the user, and the user's files are opened.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_STAGE_OUT_H
#define LAUNCHER_GRAPH_GRAPH_STAGE_OUT_H

#include "launcher/graph/graph_running.h"

struct stat;

/* A result goes to the user, if it is somewhere and not on its way. */
void graph_stage_out(struct graph_running *r, uint32_t file);
void graph_stage_out_all(struct graph_running *r);
int graph_is_result(const struct graph_running *r, uint32_t file);
/* Is a result that was delivered still there, and what it was? */
int graph_is_delivered(const struct graph_running *r,
                       uint32_t file,
                       const struct exchange_file *made);
struct graph_input graph_input_of(const struct stat *st);
/* For the exchange: open a file of the user's.  Returns the file, or -1 with
 * errno; a file that has changed since the start ends the run. */
int graph_open_input(void *running, uint32_t file);

#endif
