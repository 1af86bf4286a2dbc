/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_memory.h"
#include "launcher/probe/probe_stream.h"

uint64_t probe_memory_capacity(const struct probe_setup *setup)
{
    struct stream_setup unused;

    return probe_stream_limits(&unused, setup->proc, setup->sysfs);
}

void probe_memory_measure(const struct probe_setup *setup,
                          int budget_ms,
                          struct probe_result *r)
{
    struct stream_setup stream = {STREAM_TRIAD, setup->topology, 0, 0, 0};
    struct stream_result got;
    struct es_error err;

    r->capacity_bytes = probe_stream_limits(&stream, setup->proc, setup->sysfs);
    if (!setup->topology) {
        probe_not_measured(r, "hwloc cannot find the caches: see lstopo");
    } else if (probe_stream(&stream, budget_ms, &got, &err) < 0) {
        probe_not_measured(r, "%s: %s", err.what, err.mend);
    } else {
        r->count = got.cpus;
        probe_measured(r, got.bytes_per_s / 1e9, got.spread,
                       "triad over %.0f MB by %u CPUs; %.1f GB of memory",
                       (double)got.bytes / 1e6, got.cpus,
                       (double)r->capacity_bytes / 1e9);
    }
}
