/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_nodes.h - which nodes need not be measured, as a command before this one
 * in the same job has: `evenstep run`, or srun --evenstep.
 *
 * Where the links between the nodes count for most, nothing is taken over or
 * kept: all nodes measure these together.
 */
#ifndef LAUNCHER_RUN_JOB_NODES_H
#define LAUNCHER_RUN_JOB_NODES_H

#include "launcher/run/node_history.h"
#include "launcher/session/qualification.h"

/* Before the nodes are asked: what is known goes into setup; h must outlive the
 * qualification, and is then to be cleared. */
void job_nodes_find(struct node_history *h,
                    struct qualification_setup *setup,
                    const struct session *session);
/* They have answered: keep it for the next command, if it is all new. */
void job_nodes_keep(const struct qualification *q);

#endif
