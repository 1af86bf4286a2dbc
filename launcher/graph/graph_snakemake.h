/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_snakemake.h - what `snakemake --dag` writes.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_SNAKEMAKE_H
#define LAUNCHER_GRAPH_GRAPH_SNAKEMAKE_H

#include "launcher/graph/graph_format.h"

#include <graphviz/cgraph.h>

/*
 * snakemake --dag: a node for each job, labelled with its rule and, in a line
 * each, wildcards that the jobs before it do not have.  A job's time is that of
 * the benchmark whose name has its rule and wildcards in it.
 */
int graph_read_snakemake(struct graph_draft *d,
                         Agraph_t *g,
                         const struct graph_reading *how,
                         struct es_error *err);

#endif
