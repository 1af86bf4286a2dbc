/* SPDX-License-Identifier: BSD-2-Clause */
/* actuator_cgroup.h - CPU bandwidth of the step's tasks. */
#ifndef LAUNCHER_POWER_ACTUATOR_CGROUP_H
#define LAUNCHER_POWER_ACTUATOR_CGROUP_H

#include "launcher/power/actuator_kind.h"

extern const struct actuator_kind cgroup_kind;

/* Remove a cgroup; what runs in it goes on above it.  Not there is fine. */
void actuator_remove_group(const char *group);

#endif
