/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/job_memory.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/base/number.h"
#include "launcher/base/sysfs.h"

#include <string.h>
#include <unistd.h>

/* A number of the environment; 0: it has none. */
static uint64_t number_of(char *const env[], const char *name)
{
    size_t len = strlen(name);
    uint64_t n;

    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '='
            && number_parse_u64(*env + len + 1, &n) == 0)
            return n;
    return 0;
}

/* MiB; 0: it does not say. */
static uint64_t given_by_slurm(char *const env[])
{
    uint64_t node = number_of(env, "SLURM_MEM_PER_NODE");
    uint64_t cpu = number_of(env, "SLURM_MEM_PER_CPU");
    uint64_t cpus = number_of(env, "SLURM_CPUS_ON_NODE");

    if (node > 0)
        return node;
    return cpus < 65536 && cpu < UINT32_MAX ? cpu * cpus : 0;
}

uint64_t job_memory(char *const env[], const char *proc, const char *sysfs)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes =
        pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    uint64_t given = given_by_slurm(env);
    struct cgroup_limit limit;

    cgroup_limit_read(&limit, proc, sysfs);
    if (limit.memory_bytes < bytes)
        bytes = limit.memory_bytes;
    return given > 0 && given < bytes >> 20 ? given << 20 : bytes;
}

/* A group counts those of the groups below it, so that the most is of all. */
static void count_kills(void *arg, int version, const char *group)
{
    uint64_t *most = arg, n = 0;

    (void)sysfs_find_u64(&n, "oom_kill ", "%s/%s", group,
                         version == 1 ? "memory.oom_control" : "memory.events");
    if (n > *most)
        *most = n;
}

uint64_t job_memory_kills(const char *proc, const char *sysfs)
{
    uint64_t most = 0;

    cgroup_each(proc, "self", sysfs, count_kills, &most);
    return most;
}
