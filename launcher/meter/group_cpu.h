/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_cpu.h - the CPU time of a process group, from /proc.
 */
#ifndef LAUNCHER_METER_GROUP_CPU_H
#define LAUNCHER_METER_GROUP_CPU_H

#include <sys/types.h>

/*
 * Seconds of CPU time that the processes of the group have used, and the
 * children that they have waited for; 0 if there is no process.  O(processes of
 * the machine).
 */
double group_cpu_seconds(const char *proc, pid_t group);

#endif
