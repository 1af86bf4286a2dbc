/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_bus.h"
#include "launcher/probe/pcie.h"
#include "launcher/probe/probe_stream.h"

#include <stdio.h>

/* Copy between NUMA nodes, if there are several and memory can be placed on
 * them. */
static int measure_copy(struct stream_setup *stream,
                        int budget_ms,
                        struct stream_result *got,
                        struct es_error *err)
{
    stream->across = topology_shape(stream->topology)->numa_nodes > 1;
    if (probe_stream(stream, budget_ms, got, err) == 0)
        return 0;
    if (!stream->across)
        return -1;
    stream->across = 0;
    return probe_stream(stream, budget_ms / 2, got, err);
}

/* The accelerator with the narrowest link.  -1 if none tells of one, as inside
 * a processor or in a virtual machine. */
static int narrowest(const char *sysfs, struct pcie_device *link)
{
    struct pcie_device found[PCIE_MOST];
    size_t n = pcie_accelerators(sysfs, found);
    int rc = -1;

    for (size_t i = 0; i < n; i++) {
        if (!(found[i].bytes_per_s > 0)
            || (rc == 0 && found[i].bytes_per_s >= link->bytes_per_s))
            continue;
        *link = found[i];
        rc = 0;
    }
    return rc;
}

static void describe_link(struct probe_result *r,
                          const struct pcie_device *link)
{
    char most[64] = "";

    if (link->gt_per_s < link->gt_per_s_most || link->width < link->width_most)
        (void)snprintf(most, sizeof most, ", could be %g GT/s x%u",
                       link->gt_per_s_most, link->width_most);
    probe_measured(r, link->bytes_per_s / 1e9, 0, "PCIe %s at %g GT/s x%u%s",
                   link->name, link->gt_per_s, link->width, most);
}

void probe_bus_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r)
{
    struct stream_setup stream = {STREAM_COPY, setup->topology, 0, 0, 0};
    struct stream_result got = {0};
    struct es_error err = {ES_ENV, "hwloc cannot find the caches",
                           "see lstopo"};
    struct pcie_device link;
    int linked = narrowest(setup->sysfs, &link) == 0, copied = 0;

    (void)probe_stream_limits(&stream, setup->proc, setup->sysfs);
    if (setup->topology)
        copied = measure_copy(&stream, budget_ms, &got, &err) == 0;
    r->count = got.cpus;
    if (linked && (!copied || link.bytes_per_s < got.bytes_per_s))
        describe_link(r, &link);
    else if (copied)
        probe_measured(r, got.bytes_per_s / 1e9, got.spread,
                       "copy of %.0f MB %s by %u CPUs", (double)got.bytes / 1e6,
                       stream.across ? "between the NUMA nodes" : "in memory",
                       got.cpus);
    else
        probe_not_measured(r, "%s: %s", err.what, err.mend);
}
