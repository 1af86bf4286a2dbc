/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup_parts.h - CPU bandwidth of each task of the step by itself, or of each of
 * its threads. */
#ifndef LAUNCHER_POWER_CGROUP_PARTS_H
#define LAUNCHER_POWER_CGROUP_PARTS_H

#include "launcher/power/actuator_kind.h"

/* Move a task that has just begun into a group of its own below our group, or,
 * where that cannot be made, into our group. */
int cgroup_enter(const char *group, pid_t task, struct es_error *err);

/* As in actuator_kind.h.  The groups of the tasks are below that of the step,
 * made by Slurm or by us.  If a task that lives has none to itself, there is
 * nothing to divide: it would have no limit at all.  A task of which two or more
 * threads are told, each pinned to other CPUs, has a part for each of these. */
int cgroup_divide(struct actuator *a,
                  const struct actuator_place *place,
                  const struct actuator_runs *runs,
                  struct es_error *err);

#endif
