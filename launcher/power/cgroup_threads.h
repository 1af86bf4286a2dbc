/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_threads.h - groups for the threads of a task, below the task's own: of
 * v1, or threaded ones of v2 (Linux, admin-guide/cgroup-v2.rst, "Threads").
 *
 * Each of the threads has one to itself.  What else is in the task's group goes
 * along with the first of them, as it would have no limit otherwise.
 */
#ifndef LAUNCHER_POWER_CGROUP_THREADS_H
#define LAUNCHER_POWER_CGROUP_THREADS_H

#include "launcher/power/actuator_kind.h"

/* Cut the path of a group to that of its task. */
void cgroup_threads_cut(char *path);
/* The path of a thread's group.  0, or -1 with errno. */
int cgroup_threads_path(char path[SYSFS_PATH], const char *task, pid_t thread);
/*
 * Make the groups of n >= 2 threads that are in a task's group, of this version,
 * and move all into them.  0; -1 with *err: none is left then.
 */
int cgroup_threads_split(const char *task,
                         int version,
                         const pid_t thread[],
                         size_t n,
                         struct es_error *err);
/* Move them back, and remove all such groups in this one and below it. */
void cgroup_threads_join(const char *top);

#endif
