/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_here.h - the node that this process runs on: from the cache, or
 * measured by it, and then, for root, kept there.
 */
#ifndef LAUNCHER_COMMAND_PROBE_HERE_H
#define LAUNCHER_COMMAND_PROBE_HERE_H

#include "launcher/command/probe_print.h"
#include "launcher/config/config.h"

/*
 * Fill *node in.  What is measured by root, outside of a job and in all the
 * elements of the configuration, is kept in the cache: within a job the node
 * is not alone, and has not all of its CPUs.  Blocks for the budget.
 * node->name points to name.  Fails if nothing can be measured at all, or if
 * what should be kept cannot be.
 */
int probe_here(struct probe_node_view *node,
               char name[64],
               const struct config_probe *config,
               unsigned elements,
               int fresh,
               struct es_error *err);

#endif
