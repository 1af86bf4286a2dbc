/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole_node.h - checks that a job has all cores of a node, so that a limit for
 * the whole node concerns no other job.
 */
#ifndef LAUNCHER_POWER_WHOLE_NODE_H
#define LAUNCHER_POWER_WHOLE_NODE_H

#include "pmix_bcast/error.h"

/*
 * cores lists those that Slurm has given the job here, as "0-3,7", or NULL;
 * sysfs says how many there are.  0; or -1 with ES_ENV, also if that cannot be
 * found out.
 */
int whole_node_check(const char *sysfs,
                     const char *cores,
                     struct es_error *err);

#endif
