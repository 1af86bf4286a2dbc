/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_wish.h - what the user of `evenstep graph run` asks for.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_WISH_H
#define LAUNCHER_GRAPH_GRAPH_WISH_H

#include "launcher/config/config.h"
#include "launcher/config/local_option.h"
#include "launcher/graph/graph_file.h"
#include "policy/graph_plan.h"

#define GRAPH_RETRIES 2 /* of a task that fails: on its node, then elsewhere */

struct graph_run_wish {
    struct graph_plan_wish plan; /* machine: at most so many; cores 0: as many
                                    as the smallest node has */
    const double *speed;         /* of --speeds, one a node */
    size_t speeds;               /* 0: not given */
    int metrics; /* enum metrics_source: of the nodes' speeds, where neither
                    --speeds nor --local says them */
    const char *graph; /* the file */
    const struct config *config;
    const struct local_option *local;
    const char *srun;    /* the user's, or NULL */
    const char *work;    /* folder on the nodes; NULL: $TMPDIR, or /tmp */
    const char *journal; /* NULL: none */
    int resume;
    unsigned retries;   /* of one task */
    const char *report; /* NULL: none */
    int learn;          /* write what was measured into the graph's file */
    int json;
    int release; /* give unused nodes back to Slurm */
};

#endif
