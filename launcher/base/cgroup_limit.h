/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_limit.h - the limits of CPU time and memory that control groups set
 * for this process; version 1, version 2, or both at once.
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

#endif
