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
    /* Of a rank; -1: not known.  rss is bytes. */
    double cpu, run_delay, throttled, io_wait, rss;
    const json_t *line; /* all of it */
};

/* The tree: each is the product of those below it, as far as they are known. */
enum step_factor {
    STEP_PARALLEL,
    STEP_BALANCE,
    STEP_BALANCE_NODES,
    STEP_BALANCE_WITHIN,
    STEP_COMMUNICATION,
    STEP_SERIALISATION,
    STEP_TRANSFER,
    STEP_THREADS,
    STEP_FACTORS
};

struct step_file {
    double job, step, nodes, ranks, regions, region_seconds, skew, skew_most;
    double elapsed, useful;
    struct {                /* -1: not known */
        double value, lost; /* rank-seconds that it cost */
    } factor[STEP_FACTORS];
    struct { /* n 0: none were found */
        double n, regions, seconds, skew, skew_most;
    } iterations;
    int is_cpu;     /* metered by CPU time: it has no messages */
    double threads; /* 0: how their time went is not known */
    struct {        /* of all nodes; source "": not known */
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
    /* Owned: ranks that died, the one that the verdict names, then those with
     * most useful time. */
    const struct step_row **worst_first;
    size_t n_nodes, n_ranks;
    json_t *json;                        /* all of it, as one object */
    const json_t *line, *head, *verdict; /* of it: the step's; may be NULL */
};

/* As people read it: "load balance", two spaces before it for each factor above
 * it. */
const char *step_factor_name(const struct step_file *f, enum step_factor k);
/* As it is in files: "load_balance". */
const char *step_factor_key(enum step_factor k);
/* A member that is a number from 0, or -1 where there is none. */
double step_file_number(const json_t *object, const char *key);

/* 0, or -1 with ES_USAGE or ES_ENV; step_file_clear() it in any case. */
int step_file_read(struct step_file *f, const char *path, struct es_error *err);
void step_file_clear(struct step_file *f);

#endif
