/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_file.h - the report of a step (srun --evenstep-report=FILE), read back.
 */
#ifndef LAUNCHER_WHATIF_STEP_FILE_H
#define LAUNCHER_WHATIF_STEP_FILE_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>

#define STEP_NAME_LEN 128 /* of a node, with its NUL */

/* Seconds; of a node, or of a rank. */
struct step_row {
    char node[STEP_NAME_LEN];
    double rank; /* of a node: how many it has */
    double useful, waiting, last;
    double parallel, node_seconds; /* of a node */
    double lost; /* its agent was lost after so long; -1: it was not */
};

struct step_file {
    double job, step, nodes, ranks, regions, region_seconds, skew, skew_most;
    double parallel, balance, communication, elapsed;
    struct { /* n 0: none were found */
        double n, regions, seconds, skew, skew_most;
    } iterations;
    double threads, thread_efficiency; /* 0: how their time went is not known */
    struct {                           /* of all nodes; source "": not known */
        char source[16];
        double joules, watts;
        int has_saved;
        double saved; /* joules, may be below 0 */
    } energy;
    struct {
        char node[STEP_NAME_LEN], cause[32];
        double rank, last, node_seconds, longer, apart, speed;
    } worst;
    struct step_row *node, *rank; /* owned */
    size_t n_nodes, n_ranks;
    json_t *json; /* all of it, as one object */
};

/* 0, or -1 with ES_USAGE or ES_ENV; step_file_clear() it in any case. */
int step_file_read(struct step_file *f, const char *path, struct es_error *err);
void step_file_clear(struct step_file *f);

#endif
