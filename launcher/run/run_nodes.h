/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_nodes.h - a run's nodes: they are measured, told what all are, are lost,
 * return, and leave.
 */
#ifndef LAUNCHER_RUN_RUN_NODES_H
#define LAUNCHER_RUN_RUN_NODES_H

#include "launcher/run/run_state.h"

/* Tell a node, or all, what to run.  0, or -1 and r->err filled. */
int run_nodes_command(struct run *r, size_t node);
/* If enough are measured (run_early.h), and have said what slots they have, the
 * work can be cut. */
void run_nodes_qualified(struct run *r);
/* A node that wants to leave may, when it has done what it was at. */
void run_nodes_let_go(struct run *r, size_t node);
/* Slurm wants the node of that name free; arg is the run. */
void run_nodes_drain(void *arg, const char *name);
/* Of struct session_events. */
void run_nodes_came(void *arg, size_t node);
void run_nodes_lost(void *arg, size_t node, const char *why);
void run_nodes_returned(void *arg, size_t node);
void run_nodes_stranded(void *arg);

#endif
