/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

struct topology {
    hwloc_topology_t hwloc;
    struct topology_shape shape;
};

/* Bytes of the last-level caches: those of the highest level. */
static uint64_t cache_bytes(hwloc_topology_t hwloc)
{
    static const hwloc_obj_type_t level[] = {
        HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
        HWLOC_OBJ_L1CACHE};
    uint64_t bytes = 0;

    for (size_t i = 0; i < sizeof level / sizeof level[0] && !bytes; i++) {
        hwloc_obj_t cache = NULL;
        while ((cache = hwloc_get_next_obj_by_type(hwloc, level[i], cache)))
            bytes += cache->attr->cache.size;
    }
    return bytes;
}

/* Number of objects of a type; 0 if there are none, or on several levels. */
static unsigned count_type(hwloc_topology_t hwloc, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(hwloc, type);

    return n > 0 ? (unsigned)n : 0;
}

/* NUMA nodes that have CPUs; some hold only memory. */
static unsigned count_numa(hwloc_topology_t hwloc)
{
    hwloc_obj_t node = NULL;
    unsigned n = 0;

    while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)))
        n += !hwloc_bitmap_iszero(node->cpuset);
    return n > 0 ? n : 1;
}

/* Devices are left out by default, which is quick.  Packages and groups are
 * kept, although nobody here looks at them: without them NUMA nodes would seem
 * near to all CPUs.  Only of this machine can be told which CPUs we are bound
 * to.  All that we want is in sysfs: to ask every CPU by cpuid, too, would take
 * most of the time. */
static int load_hwloc(hwloc_topology_t hwloc)
{
    if (hwloc_topology_set_components(
            hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86")
            < 0
        || hwloc_topology_set_flags(hwloc,
                                    HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING
                                        | HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM)
               < 0)
        return -1;
    return hwloc_topology_load(hwloc);
}

struct topology *topology_load(struct es_error *err)
{
    struct topology *t = calloc(1, sizeof *t);

    /* Plugins look for devices, and their libraries start whole drivers, which
     * takes ten times as long (hwloc 2.9, Debian 12: 14 ms instead of 1). */
    (void)setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 0); /* else slower */
    if (!t || hwloc_topology_init(&t->hwloc) < 0) {
        free(t);
        es_no_memory(err);
        return NULL;
    }
    if (load_hwloc(t->hwloc) < 0) {
        es_fail(err, ES_ENV, "look at what lstopo says",
                "topology: hwloc failed: %s", strerror(errno));
        topology_destroy(t);
        return NULL;
    }
    t->shape = (struct topology_shape){
        .cpus = count_type(t->hwloc, HWLOC_OBJ_PU),
        .cores = count_type(t->hwloc, HWLOC_OBJ_CORE),
        .sockets = count_type(t->hwloc, HWLOC_OBJ_PACKAGE),
        .numa_nodes = count_numa(t->hwloc),
        .cache_bytes = cache_bytes(t->hwloc),
    };
    if (t->shape.sockets == 0)
        t->shape.sockets = 1;
    return t;
}

void topology_destroy(struct topology *t)
{
    int saved = errno;

    if (t)
        hwloc_topology_destroy(t->hwloc);
    free(t);
    errno = saved;
}

const struct topology_shape *topology_shape(const struct topology *t)
{
    return &t->shape;
}

/* The NUMA node of this number among those with CPUs; NULL if there is none. */
static hwloc_obj_t numa_at(const struct topology *t, unsigned numa)
{
    hwloc_obj_t node = NULL;

    while (
        (node = hwloc_get_next_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, node)))
        if (!hwloc_bitmap_iszero(node->cpuset) && numa-- == 0)
            return node;
    return NULL;
}

unsigned topology_numa_of(const struct topology *t, unsigned cpu)
{
    for (unsigned numa = 0; numa < t->shape.numa_nodes; numa++) {
        hwloc_obj_t node = numa_at(t, numa);

        if (node && hwloc_bitmap_isset(node->cpuset, cpu))
            return numa;
    }
    return 0;
}

void *topology_alloc(const struct topology *t, size_t len, unsigned numa)
{
    hwloc_obj_t node = numa_at(t, numa);

    if (!node) {
        errno = EINVAL;
        return NULL;
    }
    return hwloc_alloc_membind(t->hwloc, len, node->nodeset, HWLOC_MEMBIND_BIND,
                               HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET);
}

void topology_free(const struct topology *t, void *memory, size_t len)
{
    if (memory)
        (void)hwloc_free(t->hwloc, memory, len); /* our own mapping */
}

/* --- parts ---------------------------------------------------------------- */

static void add_cpus(hwloc_const_bitmap_t from, cpu_set_t *cpus, size_t bytes)
{
    int cpu = -1;

    while ((cpu = hwloc_bitmap_next(from, cpu)) >= 0)
        CPU_SET_S((size_t)cpu, bytes, cpus); /* nothing beyond bytes */
}

/* Part i of n of the objects of a type that are in `of`. */
static void add_objects(const struct topology *t,
                        hwloc_const_bitmap_t of,
                        hwloc_obj_type_t type,
                        const struct topology_part *part,
                        cpu_set_t *cpus,
                        size_t bytes)
{
    unsigned long all = (unsigned long)hwloc_get_nbobjs_inside_cpuset_by_type(
        t->hwloc, of, type);
    unsigned long to = (part->i + 1) * all / part->n;

    for (unsigned long k = part->i * all / part->n; k < to; k++) {
        hwloc_obj_t at = hwloc_get_obj_inside_cpuset_by_type(t->hwloc, of, type,
                                                             (unsigned)k);

        if (at)
            add_cpus(at->cpuset, cpus, bytes);
    }
}

static int add_part(const struct topology *t,
                    hwloc_const_bitmap_t of,
                    const struct topology_part *part,
                    cpu_set_t *cpus,
                    size_t bytes)
{
    static const hwloc_obj_type_t type[] = {HWLOC_OBJ_CORE, HWLOC_OBJ_PU};

    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        int n = hwloc_get_nbobjs_inside_cpuset_by_type(t->hwloc, of, type[i]);

        if (n < 0 || (unsigned)n < part->n)
            continue;
        add_objects(t, of, type[i], part, cpus, bytes);
        return 1;
    }
    add_cpus(of, cpus, bytes);
    return 0;
}

int topology_part(const struct topology *t,
                  const struct topology_part *part,
                  cpu_set_t *cpus,
                  size_t bytes)
{
    hwloc_const_bitmap_t ours = hwloc_topology_get_topology_cpuset(t->hwloc);
    hwloc_bitmap_t of = hwloc_bitmap_alloc();
    int is_own = 0;

    CPU_ZERO_S(bytes, cpus);
    if (!of || !part->list || hwloc_bitmap_list_sscanf(of, part->list) < 0
        || hwloc_bitmap_and(of, of, ours) < 0 || hwloc_bitmap_iszero(of))
        is_own = add_part(t, ours, part, cpus, bytes);
    else
        is_own = add_part(t, of, part, cpus, bytes);
    hwloc_bitmap_free(of);
    return is_own;
}

void topology_socket(const struct topology *t,
                     unsigned i,
                     cpu_set_t *cpus,
                     size_t bytes)
{
    hwloc_obj_t at = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, i);

    CPU_ZERO_S(bytes, cpus);
    add_cpus(at ? at->cpuset : hwloc_topology_get_topology_cpuset(t->hwloc),
             cpus, bytes);
}
