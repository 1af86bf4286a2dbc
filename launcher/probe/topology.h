/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * topology.h - what this process may use of the machine: cores, caches, NUMA
 * nodes, and memory on a chosen one of them.  Only this uses hwloc.
 */
#ifndef LAUNCHER_PROBE_TOPOLOGY_H
#define LAUNCHER_PROBE_TOPOLOGY_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

struct topology;

/* Counted over the CPUs of our affinity mask. */
struct topology_shape {
    unsigned cpus, cores;
    unsigned numa_nodes;  /* with such CPUs; at least 1 */
    uint64_t cache_bytes; /* all last-level caches together; 0: not known */
};

/* Takes some milliseconds.  NULL with err if hwloc fails. */
struct topology *topology_load(struct es_error *err);
void topology_destroy(struct topology *t);

const struct topology_shape *topology_shape(const struct topology *t);

/* The NUMA node, 0 to numa_nodes - 1, of a CPU of the kernel's number; 0 for a
 * CPU that is not ours. */
unsigned topology_numa_of(const struct topology *t, unsigned cpu);

/* Allocate len bytes that will be on NUMA node "numa" whichever thread touches
 * them first.  NULL with errno if that is not possible.  Any thread may call.
 * */
void *topology_alloc(const struct topology *t, size_t len, unsigned numa);
void topology_free(const struct topology *t, void *memory, size_t len);

#endif
