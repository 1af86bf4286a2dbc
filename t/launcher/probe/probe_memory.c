/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_memory.h"
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_stream.h"
#include "tree.h"

#define MB UINT64_C(1000000)

static void test_topology(void)
{
    struct topology *t = topology_load(NULL);
    unsigned cpu[1], *none = NULL;
    size_t cpus = probe_crew_cpus(none, 0);
    const struct topology_shape *shape;
    double *near_by;

    if (!t)
        bail("hwloc cannot find");
    shape = topology_shape(t);
    is_int((long)shape->cpus, (long)cpus, "the CPUs of our affinity mask");
    ok(shape->cores <= shape->cpus && shape->numa_nodes >= 1, "on cores");
    (void)probe_crew_cpus(cpu, 1);
    ok(topology_numa_of(t, cpu[0]) < shape->numa_nodes, "on a NUMA node");
    is_int((long)topology_numa_of(t, 1u << 20), 0, "a CPU that is none: 0");
    near_by = topology_alloc(t, 1 << 20, shape->numa_nodes - 1);
    if (near_by)
        near_by[(1 << 17) - 1] = 1;
    ok(near_by || errno, "memory on a chosen node, or the reason why not");
    topology_free(t, near_by, 1 << 20);
    ok(topology_alloc(t, 4096, shape->numa_nodes) == NULL && errno == EINVAL,
       "a node too many has none");
    topology_destroy(t);
    topology_destroy(NULL);
}

/* Two nodes of four cores with two threads, as hwloc is told by the user. */
static void test_larger(void)
{
    struct topology *t;
    const struct topology_shape *shape;

    setenv("HWLOC_SYNTHETIC", "numa:2 l3:2(size=8000000) core:4 pu:2", 1);
    t = topology_load(NULL);
    unsetenv("HWLOC_SYNTHETIC");
    if (!t)
        bail("hwloc cannot find");
    shape = topology_shape(t);
    is_int((long)shape->cpus, 32, "a larger machine: threads");
    is_int((long)shape->cores, 16, "cores");
    is_int((long)shape->numa_nodes, 2, "NUMA nodes");
    is_int((long)(shape->cache_bytes / MB), 32, "its last caches together");
    ok(topology_numa_of(t, 0) == 0 && topology_numa_of(t, 31) == 1,
       "the CPUs' nodes");
    topology_destroy(t);
}

/* On a machine that others use, too, a short time may not do. */
static int streamed(const struct stream_setup *setup,
                    struct stream_result *result)
{
    int ms = 100;

    while (probe_stream(setup, ms, result, NULL) < 0)
        if ((ms *= 3) > 10000)
            return -1;
    return 0;
}

static void test_stream(enum stream_kind kind, int across, const char *name)
{
    struct topology *t = topology_load(NULL);
    struct stream_setup setup = {kind, t, across, 0, 1 << 20};
    struct stream_result result = {.cpus = 77};
    struct es_error err = {ES_OK, "", ""};
    double all;
    uint64_t cache;

    if (!t)
        bail("hwloc cannot find");
    cache = topology_shape(t)->cache_bytes;
    ok(probe_stream(&setup, 50, &result, &err) == -1 && err.kind == ES_ENV
           && strstr(err.what, "only 1 MB of memory may be used")
           && result.cpus == 77,
       "%s: less memory than the caches is refused", name);
    (void)probe_stream_limits(&setup, "/proc", "/sys");
    is_int(streamed(&setup, &result), 0, name);
    ok(result.bytes_per_s > 1e6 && result.spread >= 0, "has a rate");
    ok(result.bytes > cache, "no cache holds the arrays");
    ok(result.bytes <= setup.memory_most, "which are not larger than allowed");
    diag("%.1f GB/s +- %.0f %%, %.0f MB", result.bytes_per_s / 1e9,
         100 * result.spread, (double)result.bytes / 1e6);
    all = result.bytes_per_s;
    setup.cpus_most = 0.001 * result.cpus;
    (void)probe_stream(&setup, 60, &result, NULL);
    ok(result.bytes_per_s > 0 && result.bytes_per_s < all,
       "a thousandth of the CPUs' time has less of it");
    diag("%.1f GB/s +- %.0f %%", result.bytes_per_s / 1e9, 100 * result.spread);
    topology_destroy(t);
}

static void test_memory(void)
{
    struct stream_setup stream = {0};
    struct topology *t = topology_load(NULL);
    struct probe_setup setup;
    struct probe_result r = {0};

    tree_make();
    is_int((long)probe_stream_limits(&stream, tree_root, tree_root), 0,
           "a node that tells no memory has none");
    ok(stream.memory_most == 0 && stream.cpus_most == 0,
       "none to take, and all CPUs");
    tree_put("meminfo", "MemTotal:  8000 kB\nMemAvailable:  4000 kB\n");
    is_int((long)probe_stream_limits(&stream, tree_root, tree_root),
           8000 * 1024, "what there is");
    is_int((long)stream.memory_most, 1000 * 1024,
           "a quarter of what is free may be taken");
    tree_put("self/cgroup", "0::/\n");
    tree_put("fs/cgroup/cpu.max", "15000 10000\n");
    tree_put("fs/cgroup/memory.max", "2048000\n");
    tree_put("fs/cgroup/memory.current", "1024000\n");
    is_int((long)probe_stream_limits(&stream, tree_root, tree_root), 2048000,
           "or of what the control groups limit it to");
    is_int((long)stream.memory_most, 256000, "they have used some of it");
    is_near(stream.cpus_most, 1.5, 0, "and limit CPU time");
    probe_setup_init(&setup);
    setup.proc = setup.sysfs = tree_root;
    probe_memory_measure(&setup, 50, &r);
    ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, "hwloc cannot find"),
       "without a topology it is not measured, and said");
    setup.topology = t;
    probe_memory_measure(&setup, 50, &r);
    ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, "only 0 MB of memory"),
       "nor with so little memory");
    is_int((long)r.capacity_bytes, 2048000, "but how much there is");
    topology_destroy(t);
    tree_remove();
}

int main(void)
{
    test_topology();
    test_larger();
    test_stream(STREAM_TRIAD, 0, "triad");
    test_stream(STREAM_COPY, 0, "copy");
    test_stream(STREAM_COPY, 1, "copy from the next NUMA node");
    test_memory();
    return done();
}
