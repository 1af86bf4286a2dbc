/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_wfold.h - WfCommons' WfFormat before 1.5, whose tasks (jobs, before
 * 1.3) have their files, times and commands beside them.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_WFOLD_H
#define LAUNCHER_GRAPH_GRAPH_WFOLD_H

#include <jansson.h>

/* Give such a workflow the specification and execution of 1.5; any other file
 * stays as it is.  -1: no memory. */
int graph_wfold_update(json_t *all);

#endif
