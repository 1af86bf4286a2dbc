/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_stream.h - how fast all CPUs together move data in memory that no cache
 * holds; the memory and the bus probe use it.
 *
 * Every CPU has its own part of the arrays.  It touches it first, so it is on
 * its own NUMA node.  With "across" its source is on the next NUMA node, so all
 * links between the nodes are busy at once.
 */
#ifndef LAUNCHER_PROBE_PROBE_STREAM_H
#define LAUNCHER_PROBE_PROBE_STREAM_H

#include "launcher/probe/topology.h"
#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

/* The arrays are so many times as large as the last-level caches, if there is
 * time to touch them: then a cache holds at most a quarter of them.  They are
 * in any case a quarter larger than the caches.  (STREAM wants each array 4
 * times as large, but does not walk all three in one cycle as here.) */
#define STREAM_CACHES 4

/* If the size of the caches is not known, as in a virtual machine. */
#define STREAM_CACHE_UNKNOWN (UINT64_C(32) << 20)

enum stream_kind {
    STREAM_TRIAD, /* a = b + s * c; counts 3 numbers, as STREAM does */
    STREAM_COPY,  /* a = b; counts 1, the data moved */
};

struct stream_setup {
    enum stream_kind kind;
    const struct topology *topology;
    int across;           /* sources on the next NUMA node */
    double cpus_most;     /* CPU seconds per second of our limit; 0: no limit */
    uint64_t memory_most; /* bytes that may be allocated */
};

struct stream_result {
    double bytes_per_s, spread;
    uint64_t bytes; /* of the arrays */
    unsigned cpus;
};

/*
 * Stream for budget_ms; longer if touching the memory takes most of that time,
 * or a limit gives too little CPU time.  The rate is as in probe_crew.h.  Fails
 * if there is no memory, none on the wanted NUMA node, or not more than the
 * caches hold.
 */
int probe_stream(const struct stream_setup *setup,
                 int budget_ms,
                 struct stream_result *result,
                 struct es_error *err);

/*
 * Fill in cpus_most, from the limit of our control groups, and memory_most, a
 * quarter of what is free on the node (<proc>/meminfo) or within the limit.
 * Returns the bytes of memory that we may use in all.
 */
uint64_t probe_stream_limits(struct stream_setup *setup,
                             const char *proc,
                             const char *sysfs);

#endif
