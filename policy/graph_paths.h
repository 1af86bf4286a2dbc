/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_paths.h - cut a task graph into paths, each to run on one core.
 *
 * A path leads from a task back over favourite predecessors, so that what is
 * needed most is made where it is needed.  Where the favourite is on a path
 * already, the three algorithms differ in whether they copy it:
 *
 * TDS   always where its result would come too late otherwise, and mostly
 *       where it would not
 * EAD   only if the copy costs no more energy than the message that it saves,
 *       plus a threshold
 * PEBD  likewise, the energy divided by the time that it can save
 *
 * graph.h names the publications.
 */
#ifndef POLICY_GRAPH_PATHS_H
#define POLICY_GRAPH_PATHS_H

#include "policy/graph.h"

#define GRAPH_MEMBERS_MAX (1u << 26) /* of all paths; 256 MiB of numbers */

enum path_algorithm { PATH_TDS, PATH_EAD, PATH_PEBD };

struct path_rule {
    enum path_algorithm algorithm;
    double threshold;  /* J (EAD), J/s (PEBD) */
    double busy, link; /* W: of a core at work, of a link in use */
};

/* Path i is task[at[i] .. at[i + 1]), first to last; in order of creation. */
struct graph_paths {
    uint32_t n;
    uint32_t *at, *task;
};

enum path_fault {
    PATH_SOUND,
    PATH_LONG, /* together more than GRAPH_MEMBERS_MAX tasks */
    PATH_MEMORY,
};

/*
 * Release *p by graph_paths_clear(); on a fault it is empty.
 * O(V log V + E), plus the sum of in-degrees over the paths' tasks.
 */
enum path_fault graph_paths_init(struct graph_paths *p,
                                 const struct graph *g,
                                 const struct path_rule *rule);
void graph_paths_clear(struct graph_paths *p);

#endif
