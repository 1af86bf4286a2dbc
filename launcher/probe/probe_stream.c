/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part is a number of blocks, and a batch of work is one block.  Blocks are
 * walked again and again in the order in which they were first touched.  The
 * next one is always the one unused for longest, which is the least likely to
 * be in a cache.  So even less than one walk is a measurement.
 */
#include "launcher/probe/probe_stream.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/base/sysfs.h"
#include "launcher/probe/probe_crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Numbers of each array in a block.  64 KiB are enough for the prefetcher, and
 * three of them take some 50 us even if all CPUs share the memory. */
#define BLOCK 8192

#define PAGE      4096              /* the smallest anywhere */
#define HUGE_PAGE ((size_t)2 << 20) /* page faults are 20 times as fast */

struct part {
    double *to, *from; /* blocks one after another; from: 1 or 2 arrays */
    size_t mapped;     /* blocks */
    size_t least;      /* blocks that must be touched, however long it takes */
    size_t blocks;     /* blocks that were touched */
    size_t next;
    unsigned cpu;
};

struct stream {
    const struct stream_setup *setup;
    struct part *part; /* one for each CPU */
    size_t parts, sources;
    size_t to_bytes, from_bytes; /* mapped for each part */
};

/* --- in the crew's threads ------------------------------------------------ */

static void *map_near(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* only makes it faster */
    return memory;
}

static void *map_across(const struct topology *t, size_t bytes, unsigned cpu)
{
    unsigned next = topology_numa_of(t, cpu) + 1;
    void *memory =
        topology_alloc(t, bytes, next % topology_shape(t)->numa_nodes);

    if (memory)
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Touch the pages of n numbers, so that the kernel allocates them. */
static void touch(double *number, size_t n)
{
    for (size_t i = 0; i < n; i += PAGE / sizeof *number)
        number[i] = 1;
}

static int prepare_part(void *arg, size_t thread, int64_t until_ns)
{
    const struct stream *s = arg;
    struct part *p = &s->part[thread];
    size_t n = s->sources * BLOCK;

    p->to = map_near(s->to_bytes);
    p->from = s->setup->across
                  ? map_across(s->setup->topology, s->from_bytes, p->cpu)
                  : map_near(s->from_bytes);
    if (!p->to || !p->from)
        return -1;
    while (p->blocks < p->mapped
           && (p->blocks < p->least || probe_now_ns() < until_ns)) {
        touch(p->to + p->blocks * BLOCK, BLOCK);
        touch(p->from + p->blocks * n, n);
        p->blocks++;
    }
    return 0;
}

/* Of constant length, so that the compiler uses vector instructions. */
static void triad(double *restrict a, const double *restrict bc)
{
    for (size_t i = 0; i < BLOCK; i++)
        a[i] = bc[i] + 3.0 * bc[BLOCK + i];
}

static uint64_t stream_block(void *arg, size_t thread)
{
    const struct stream *s = arg;
    struct part *p = &s->part[thread];
    double *to = p->to + p->next * BLOCK;
    const double *from = p->from + p->next * s->sources * BLOCK;

    p->next = p->next + 1 < p->blocks ? p->next + 1 : 0;
    if (s->setup->kind == STREAM_COPY) {
        memcpy(to, from, BLOCK * sizeof *to);
        return BLOCK * sizeof *to;
    }
    triad(to, from);
    return 3 * BLOCK * sizeof *to;
}

/* --- in the caller's ------------------------------------------------------ */

static uint64_t cache_of(const struct topology *t)
{
    uint64_t bytes = topology_shape(t)->cache_bytes;

    return bytes ? bytes : STREAM_CACHE_UNKNOWN;
}

static size_t round_up(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* Bytes that no cache holds all of, and of which what it does hold matters
 * little. */
static uint64_t least_bytes(const struct topology *t)
{
    return cache_of(t) + cache_of(t) / 4;
}

/* Choose the size of the parts; -1 with errno. */
static int stream_init(struct stream *s, const struct stream_setup *setup)
{
    uint64_t want = STREAM_CACHES * cache_of(setup->topology);
    uint64_t least = least_bytes(setup->topology);
    size_t cpus = probe_crew_cpus(NULL, 0), block;
    unsigned *cpu = calloc(cpus, sizeof *cpu);

    *s = (struct stream){.setup = setup,
                         .part = calloc(cpus, sizeof *s->part),
                         .parts = cpus,
                         .sources = setup->kind == STREAM_TRIAD ? 2 : 1};
    if (cpus == 0 || !s->part || !cpu) {
        free(cpu);
        free(s->part);
        return -1;
    }
    if (want > setup->memory_most)
        want = setup->memory_most;
    block = (1 + s->sources) * BLOCK * sizeof(double);
    (void)probe_crew_cpus(cpu, cpus);
    for (size_t i = 0; i < cpus; i++) {
        s->part[i].cpu = cpu[i];
        s->part[i].mapped = (size_t)(want / cpus / block) + 1;
        s->part[i].least = (size_t)(least / cpus / block) + 1;
    }
    s->to_bytes = round_up(s->part[0].mapped * BLOCK * sizeof(double));
    s->from_bytes =
        round_up(s->part[0].mapped * s->sources * BLOCK * sizeof(double));
    free(cpu);
    return 0;
}

static void stream_clear(struct stream *s)
{
    for (size_t i = 0; i < s->parts; i++) {
        if (s->part[i].to)
            (void)munmap(s->part[i].to, s->to_bytes); /* our own mapping */
        if (s->part[i].from && s->setup->across)
            topology_free(s->setup->topology, s->part[i].from, s->from_bytes);
        else if (s->part[i].from)
            (void)munmap(s->part[i].from, s->from_bytes);
    }
    free(s->part);
}

/* Bytes that were touched in time. */
static uint64_t bytes_touched(const struct stream *s)
{
    uint64_t blocks = 0;

    for (size_t i = 0; i < s->parts; i++)
        blocks += s->part[i].blocks;
    return blocks * (1 + s->sources) * BLOCK * sizeof(double);
}

static int fill_result(struct stream_result *result,
                       const struct stream *s,
                       const struct crew_rate *rate,
                       struct es_error *err)
{
    if (!(rate->units_per_s > 0))
        return es_fail(err, ES_ENV, "give the node more time (probe budget_ms)",
                       "the CPUs were never at work all at once");
    result->bytes_per_s = rate->units_per_s;
    result->spread = rate->spread;
    result->bytes = bytes_touched(s);
    result->cpus = (unsigned)s->parts;
    return 0;
}

int probe_stream(const struct stream_setup *setup,
                 int budget_ms,
                 struct stream_result *result,
                 struct es_error *err)
{
    uint64_t least = least_bytes(setup->topology);
    struct probe_work work = {.prepare = prepare_part,
                              .batch = stream_block,
                              .bound = 1,
                              .cpus_most = setup->cpus_most};
    struct crew_rate rate;
    struct stream s;
    int rc;

    if (setup->memory_most < least)
        return es_fail(
            err, ES_ENV, "raise the memory limit of the job",
            "only %.0f MB of memory may be used, and the caches need "
            "%.0f MB",
            (double)setup->memory_most / 1e6, (double)least / 1e6);
    if (stream_init(&s, setup) < 0)
        return es_no_memory(err);
    work.arg = &s;
    rc = probe_crew_run(&work, budget_ms, &rate, err);
    if (rc == 0)
        rc = fill_result(result, &s, &rate, err);
    stream_clear(&s);
    return rc;
}

uint64_t probe_stream_limits(struct stream_setup *setup,
                             const char *proc,
                             const char *sysfs)
{
    uint64_t total_kb = 0, free_kb = 0, left, capacity;
    struct cgroup_limit limit;

    (void)sysfs_find_u64(&total_kb, "MemTotal:", "%s/meminfo", proc);
    (void)sysfs_find_u64(&free_kb, "MemAvailable:", "%s/meminfo", proc);
    cgroup_limit_read(&limit, proc, sysfs);
    capacity = total_kb * 1024;
    if (limit.memory_bytes < capacity)
        capacity = limit.memory_bytes;
    left = free_kb * 1024;
    if (limit.free_bytes < left)
        left = limit.free_bytes;
    setup->memory_most = left / 4;
    setup->cpus_most = limit.cpus;
    return capacity;
}
