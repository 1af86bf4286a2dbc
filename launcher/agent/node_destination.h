/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_destination.h - where a broadcast's file goes on this node.
 *
 * In a destination {node} is this node's name, as in a command's words.  One
 * that begins with $TMPDIR/ or ${TMPDIR}/ goes into the folder that Slurm (or a
 * prolog of the site) has given the job on this node; /tmp where there is none.
 */
#ifndef LAUNCHER_AGENT_NODE_DESTINATION_H
#define LAUNCHER_AGENT_NODE_DESTINATION_H

#include "pmix_bcast/bcast_message.h"

/* Fill in what is written so, in place; env ends with NULL.  0, or -1 with
 * errno: ENOMEM, or ENAMETOOLONG. */
int node_destination_fill(char destination[DESTINATION_MAX],
                          const char *node,
                          char *const env[]);

#endif
