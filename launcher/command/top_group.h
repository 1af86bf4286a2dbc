/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_group.h - how fast the racks of a step are, and the step as a whole.  The
 * threads of a node are summed up by its monitor (monitor.h), nodes by their
 * rack, racks by the step.
 *
 * A rack counts by the aggregate of the speeds of its nodes that the site has
 * chosen.  Nodes are left out if their rack or their speed is not known.  If no
 * rack is known, the step sums up nodes.  The levels are those of US 9,477,533.
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
 * Returns how many racks there are. *racks is sorted by name and owned by the
 * caller; *step sums them up.  If memory ran out there are none, and *step is
 * empty.
 */
size_t top_groups_find(const struct top_step *of,
                       struct top_group **racks,
                       struct top_group *step);

#endif
