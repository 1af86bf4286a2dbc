/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_here.h - what the node of this process can do: read from the cache, or
 * measured.  What root has measured is kept in the cache.
 */
#ifndef LAUNCHER_COMMAND_PROBE_HERE_H
#define LAUNCHER_COMMAND_PROBE_HERE_H

#include "launcher/command/probe_print.h"
#include "launcher/config/config.h"

/*
 * Fill in *node.  What root measures is kept in the cache if it is outside of a
 * job, as inside one other processes share the node and not all CPUs can be
 * used, and if all elements of the configuration were measured.  Blocks for the
 * budget. node->name points to name.  Fails if nothing can be measured at all,
 * or if a result that is to be kept cannot be written.
 */
int probe_here(struct probe_node_view *node,
               char name[64],
               const struct config_probe *config,
               unsigned elements,
               int fresh,
               struct es_error *err);

#endif
