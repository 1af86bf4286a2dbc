/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * topology.h - what this process may use of the machine: cores, caches, NUMA
 * nodes, memory on a chosen one of them, and its CPUs in parts.  Only this uses
 * hwloc.
 */
#ifndef LAUNCHER_PROBE_TOPOLOGY_H
#define LAUNCHER_PROBE_TOPOLOGY_H

#include "pmix_bcast/error.h"

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct topology;

/* Counted over the CPUs of our affinity mask. */
struct topology_shape {
    unsigned cpus, cores;
    unsigned sockets;     /* at least 1 */
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

/* --- parts ---------------------------------------------------------------- */

struct topology_part {
    const char *list; /* of CPUs, as "0-3,8": of those of them that are ours;
                         NULL, or none of ours: of all of ours */
    unsigned i, n;    /* part i of n, i < n */
};

/*
 * The CPUs, by the kernel's numbers, of one part: whole cores or, if there are
 * more parts than cores, their hardware threads; neighbours stay together, and
 * parts differ by one at most.  Returns 1, or 0 if there are more parts than
 * threads: then each has all.
 */
int topology_part(const struct topology *t,
                  const struct topology_part *part,
                  cpu_set_t *cpus,
                  size_t bytes);
/* Those of our CPUs that are in a socket, i < sockets. */
void topology_socket(const struct topology *t,
                     unsigned i,
                     cpu_set_t *cpus,
                     size_t bytes);

#endif
