/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_release.h - nodes that a plan has no use for: they are named before the
 * run, and with --release Slurm gets them back.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_RELEASE_H
#define LAUNCHER_GRAPH_GRAPH_RELEASE_H

#include "launcher/graph/graph_running.h"

/* Before any task is sent: r->state has the places of the plan. */
void graph_release(struct graph_running *r);

#endif
