/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_limit.h - what the control groups that we are in leave us: CPU time
 * and memory.  Version 1, version 2, and both at once.
 *
 * A limit of any group above ours counts, too.  In a container the path that
 * /proc tells may be the host's; then what is not there is passed over, and
 * the root that we see is the container's own group.
 */
#ifndef LAUNCHER_BASE_CGROUP_LIMIT_H
#define LAUNCHER_BASE_CGROUP_LIMIT_H

#include <stdint.h>

struct cgroup_limit {
    double cpus;           /* CPUs' worth of time; 0: not limited */
    uint64_t memory_bytes; /* UINT64_MAX: not limited */
    uint64_t free_bytes;   /* of it, what is left; likewise */
};

/* Reads <proc>/self/cgroup and below <sysfs>/fs/cgroup; what cannot be read
 * does not limit. */
void cgroup_limit_read(struct cgroup_limit *limit,
                       const char *proc,
                       const char *sysfs);

#endif
