/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_limit.h - the control groups of a process, and the limits of CPU time
 * and memory that they set for this one; version 1, version 2, or both at once.
 *
 * The limits of all groups above count, too.  In a container /proc may show a
 * path of the host: groups that do not exist here are skipped, and the root
 * that we see is the container's own group.
 */
#ifndef LAUNCHER_BASE_CGROUP_LIMIT_H
#define LAUNCHER_BASE_CGROUP_LIMIT_H

#include <stdint.h>

struct cgroup_limit {
    double cpus;           /* CPU seconds per second; 0: not limited */
    uint64_t memory_bytes; /* UINT64_MAX: not limited */
    uint64_t free_bytes;   /* of these, not yet used; likewise */
};

/* Read <proc>/self/cgroup and files below <sysfs>/fs/cgroup.  What cannot be
 * read counts as no limit. */
void cgroup_limit_read(struct cgroup_limit *limit,
                       const char *proc,
                       const char *sysfs);

/* A group by its directory, of version 1 or 2. */
typedef void (*cgroup_fn)(void *arg, int version, const char *group);

/* The groups of a process, "self" or its id, that may have to do with CPU time
 * and memory: each one before those above it, up to the root that we see.  A
 * path may be none of a group, and a root may come twice, with "/" behind. */
void cgroup_each(const char *proc,
                 const char *process,
                 const char *sysfs,
                 cgroup_fn fn,
                 void *arg);

#endif
