/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_options.h - the options of `evenstep graph plan|run`.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_OPTIONS_H
#define LAUNCHER_GRAPH_GRAPH_OPTIONS_H

#include "launcher/graph/graph_wish.h"

struct graph_options {
    struct graph_run_wish run; /* its plan is for `graph plan`, too */
    struct graph_reading reading;
    struct local_option local;
    const char *svg; /* NULL: not given */
    int is_run, has_deadline, none, all;
    enum grouping_mode baseline;
};

/* What the algorithm is called. */
const char *graph_algorithm_name(enum path_algorithm algorithm);

/*
 * Parse argv, argv[0] being "graph"; what it does not say is as in c, which
 * must outlive it.  Returns 0; 1 if --help was asked for and has been printed;
 * -1 with ES_USAGE.  The strings point into argv.
 */
int graph_options_parse(struct graph_options *o,
                        const struct config *c,
                        int argc,
                        char **argv,
                        struct es_error *err);

#endif
