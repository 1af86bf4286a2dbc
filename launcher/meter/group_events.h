/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_events.h - what the cgroups of a node's processes have met: for how long
 * their quota of CPU time was used up, and whether the kernel has killed in them
 * for want of memory; version 1 and 2.
 *
 * The groups that this process is in, too, are the node's: what happens there
 * happens to all.
 */
#ifndef LAUNCHER_METER_GROUP_EVENTS_H
#define LAUNCHER_METER_GROUP_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#define GROUP_EVENTS_DEPTH 12 /* groups of a process; others do not count */

struct group_events;

/* Where a process is: the groups below the node's, and of memory all. */
struct group_place {
    uint32_t cpu_n, memory_n;
    uint32_t cpu[GROUP_EVENTS_DEPTH], memory[GROUP_EVENTS_DEPTH];
};

/* "/proc" and "/sys" but for tests; both outlive it.  NULL: no memory. */
struct group_events *group_events_open(const char *proc, const char *sysfs);
/* Find the groups of a process; of one that cannot be seen there are none. */
void group_events_place(struct group_events *e,
                        pid_t pid,
                        struct group_place *place);
/* Read the throttled time of all groups that were found. */
void group_events_look(struct group_events *e);
/* Nanoseconds, as of that look: in the groups of a place, or (NULL) the node's. */
uint64_t group_events_throttled(const struct group_events *e,
                                const struct group_place *place);
/* Processes killed there by the kernel, as of now. */
uint64_t group_events_killed(const struct group_events *e,
                             const struct group_place *place);
/* NULL is allowed. */
void group_events_close(struct group_events *e);

#endif
