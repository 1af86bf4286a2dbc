/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup_place.h - where the cgroups of a step's tasks are, and their knobs. */
#ifndef LAUNCHER_POWER_CGROUP_PLACE_H
#define LAUNCHER_POWER_CGROUP_PLACE_H

#include "launcher/exec/throttle.h"
#include "launcher/power/actuator_kind.h"

#define CGROUP_SECOND 1000000u /* microseconds: of limits */
#define CGROUP_TASK   "task-"  /* and its pid: the group of a task in ours */
/* The kernel's least quota, in microseconds a second. */
#define CGROUP_LEAST                                                           \
    ((uint64_t)CGROUP_SECOND / THROTTLE_PERIOD_US * THROTTLE_QUOTA_US)

/* The group of a task.  0, or -1 if it has none that can be limited. */
int cgroup_place_find(struct throttle_place *where,
                      const struct actuator_place *place,
                      pid_t task);
/* Add the knobs of a group, for limits between these two. */
int cgroup_add_knobs(struct actuator *a,
                     const char *group,
                     uint64_t least,
                     uint64_t most,
                     struct es_error *err);

#endif
