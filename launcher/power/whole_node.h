/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole_node.h - has a job the whole of a node, so that what is set for all of
 * the node is no other job's?
 */
#ifndef LAUNCHER_POWER_WHOLE_NODE_H
#define LAUNCHER_POWER_WHOLE_NODE_H

#include "pmix_bcast/error.h"

/*
 * cores is what Slurm has given the job here, as "0-3,7", or NULL; sysfs tells
 * how many there are.  0; or -1 with ES_ENV, also if nobody knows.
 */
int whole_node_check(const char *sysfs,
                     const char *cores,
                     struct es_error *err);

#endif
