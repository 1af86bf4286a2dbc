/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_options.h - the options of `evenstep graph plan|run|import`.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_OPTIONS_H
#define LAUNCHER_GRAPH_GRAPH_OPTIONS_H

#include "launcher/graph/graph_wish.h"

#define GRAPH_SPEEDS_MAX 4096 /* of --speeds */

struct graph_options {
    struct graph_run_wish run; /* its plan is for `graph plan`, too */
    struct graph_reading reading;
    struct local_option local;
    double *speed; /* of --speeds; NULL: not given */
    struct processor_kind *kind;
    size_t speeds;
    uint64_t memory;    /* of a processor; 0: not given */
    const char *svg;    /* NULL: not given */
    const char *times;  /* likewise: reports */
    const char *to;     /* likewise: of import */
    struct power power; /* busy below 0: not given */
    double deadline_s;  /* below 0: not given */
    int is_run, is_import, group, none, is_packed, all;
    enum grouping_mode baseline;
};

extern const struct option graph_options_table[];

/* What the options and the two operands come to; what they do not say is as in
 * c, which must outlive o.  Returns 0, or -1 with err. */
int graph_options_settle(struct graph_options *o,
                         const struct config *c,
                         char **words,
                         struct es_error *err);
void graph_options_clear(struct graph_options *o);

#endif
