/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_manner.h - how a task is to be run, besides its command: its
 * environment, how long at most, how often again.  What a file asks for and
 * nobody would do is an error that names it.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_MANNER_H
#define LAUNCHER_GRAPH_GRAPH_MANNER_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stdint.h>

struct graph_manner {
    char **argv;      /* NULL-ended; replaced by others of the same owner */
    const char *name; /* of the task, for messages */
    double timeout;   /* seconds; 0: none */
    int64_t retries;  /* -1: as for all */
};

/* Are the keys of all, its tasks and edges such that `graph run` knows?  Else
 * -1 with ES_USAGE. */
int graph_manner_check(const json_t *all,
                       const char *path,
                       struct es_error *err);

/*
 * Add to a task, whose words are known, what the file says.
 *
 *   all      the file
 *   at       its task, rule or execution
 */
int graph_manner_read(struct graph_manner *t,
                      const json_t *all,
                      const json_t *at,
                      const char *path,
                      struct es_error *err);

#endif
