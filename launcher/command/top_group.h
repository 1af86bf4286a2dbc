/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_group.h - how the racks of a step stand, and the step: of threads the
 * node is told (monitor.h), of nodes their rack, of racks the step.
 *
 * What stands for a rack on the level above is the site's aggregate of its
 * nodes' speeds.  Nodes whose rack is not known, and whose speed is not, are
 * left out; without any rack the step is of nodes.  The
 * levels are those of US 9,477,533.
 */
#ifndef LAUNCHER_COMMAND_TOP_GROUP_H
#define LAUNCHER_COMMAND_TOP_GROUP_H

#include "launcher/session/top_file.h"

struct top_group {
    const char *rack; /* as in the step */
    size_t n;         /* nodes, or racks */
    double speed[AGGREGATES];
};

/*
 * *racks are sorted by name and the caller's to free(); how many there are is
 * returned.  step is of them.  If memory ran out there are none, and no step.
 */
size_t top_groups_find(const struct top_step *of,
                       struct top_group **racks,
                       struct top_group *step);

#endif
