/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_layout.h - which task of a step runs on which node, from what
 * `sattach --layout` prints.  Pure but for allocation.
 *
 * A line a node, "Node 0 (n0), 2 task(s): 0 4", whatever the distribution.
 */
#ifndef LAUNCHER_SESSION_STEP_LAYOUT_H
#define LAUNCHER_SESSION_STEP_LAYOUT_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

struct step_layout {
    uint32_t tasks;
    uint32_t *node_of; /* of each task, an index into the names */
};

/* The step's nodes from its heading, "7 tasks, 4 nodes (n[0-3])": Slurm's list,
 * and how many they are.  Returns 0, or -1 with ES_ENV: it has none, or one
 * that does not fit. */
int step_layout_nodes(const char *text,
                      char *nodes,
                      size_t size,
                      uint32_t *n,
                      struct es_error *err);

/*
 * text  what sattach printed, ended with a NUL; changed while it is read
 * name  the nodes' names as the caller numbers them, n of them
 *
 * Fails if a line's node is none of them, or a rank is not there exactly once.
 * *l is to be cleared in any case.
 */
int step_layout_read(struct step_layout *l,
                     char *text,
                     const char *const *name,
                     size_t n,
                     struct es_error *err);
void step_layout_clear(struct step_layout *l);

#endif
