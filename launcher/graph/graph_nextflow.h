/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_nextflow.h - what `nextflow -with-dag FILE.dot` writes.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_NEXTFLOW_H
#define LAUNCHER_GRAPH_GRAPH_NEXTFLOW_H

#include "launcher/graph/graph_format.h"

#include <graphviz/cgraph.h>

/*
 * nextflow -with-dag FILE.dot: a node for each process, and others between them.
 * The tasks are those of the trace; where two processes have the same tags, each
 * task waits for that of its tag, else for all.  Without a trace each process is
 * one task.
 */
int graph_read_nextflow(struct graph_draft *d,
                        Agraph_t *g,
                        const struct graph_reading *how,
                        struct es_error *err);

#endif
