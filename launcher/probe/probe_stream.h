/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_stream.h - how fast all CPUs together move memory that no cache
 * holds: the work that the memory and the bus probe share.
 *
 * Every CPU has a part of the arrays of its own, which it touched first, so
 * they lie near it; or, "across", its source lies on the next NUMA node, so
 * all links between the nodes are busy at once.
 */
#ifndef LAUNCHER_PROBE_PROBE_STREAM_H
#define LAUNCHER_PROBE_PROBE_STREAM_H

#include "launcher/probe/topology.h"
#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

/* Arrays as large as so many last caches, if there is time to touch them: what
 * a cache keeps of them after all is then a quarter at most.  A quarter more
 * than the last caches they are in any case.  (STREAM wants each array 4 times
 * as large; its three are not walked in one cycle as here.) */
#define STREAM_CACHES 4

/* Where the last cache is not told, say in a virtual machine. */
#define STREAM_CACHE_UNKNOWN (UINT64_C(32) << 20)

enum stream_kind {
    STREAM_TRIAD, /* a = b + s * c; counts 3 numbers, as STREAM does */
    STREAM_COPY,  /* a = b; counts 1, what went over */
};

struct stream_setup {
    enum stream_kind kind;
    const struct topology *topology;
    int across;           /* sources on the next NUMA node */
    double cpus_most;     /* CPUs' worth of time that we may use; 0: all */
    uint64_t memory_most; /* bytes that may be taken */
};

struct stream_result {
    double bytes_per_s, spread;
    uint64_t bytes; /* of the arrays */
    unsigned cpus;
};

/*
 * Stream for budget_ms, longer where it takes most of that to touch the
 * memory or to be given some CPU time; the rate is as of probe_crew.h.  Fails
 * if the memory cannot be had: not at all, not on the node it should be, or
 * not more of it than the last caches hold.
 */
int probe_stream(const struct stream_setup *setup,
                 int budget_ms,
                 struct stream_result *result,
                 struct es_error *err);

/*
 * Fill in what we may use: CPU time as our control groups limit it, and of
 * memory a quarter of what is free on the node (<proc>/meminfo) or left by
 * them.  Returns the bytes of memory that there are, for us.
 */
uint64_t probe_stream_limits(struct stream_setup *setup,
                             const char *proc,
                             const char *sysfs);

#endif
