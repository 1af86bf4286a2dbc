/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/cgroup_limit.h"
#include "launcher/base/sysfs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Version 1 says "not limited" by the largest number of whole pages. */
#define V1_UNLIMITED (UINT64_C(1) << 62)

static void limit_cpus(struct cgroup_limit *limit, double quota, double period)
{
    double cpus = period > 0 ? quota / period : 0;

    if (cpus > 0 && (limit->cpus == 0 || cpus < limit->cpus))
        limit->cpus = cpus;
}

/* cache: pages of files, which the kernel gives up before it kills. */
static void limit_memory(struct cgroup_limit *limit,
                         uint64_t most,
                         uint64_t used,
                         uint64_t cache)
{
    uint64_t in_use = used > cache ? used - cache : 0;
    uint64_t left = most > in_use ? most - in_use : 0;

    if (most < limit->memory_bytes)
        limit->memory_bytes = most;
    if (left < limit->free_bytes)
        limit->free_bytes = left;
}

static void read_v2(struct cgroup_limit *limit, const char *group)
{
    uint64_t quota, period, most, used = 0, cache = 0;
    char line[SYSFS_LINE];

    if (sysfs_read(line, "%s/cpu.max", group) == 0 && line[0] >= '0'
        && line[0] <= '9' /* not "max" */
        && sscanf(line, "%" SCNu64 " %" SCNu64, &quota, &period) == 2)
        limit_cpus(limit, (double)quota, (double)period);
    if (sysfs_read_u64(&most, "%s/memory.max", group) < 0)
        return;
    (void)sysfs_read_u64(&used, "%s/memory.current", group); /* or 0 */
    (void)sysfs_find_u64(&cache, "inactive_file ", "%s/memory.stat", group);
    limit_memory(limit, most, used, cache);
}

static void read_v1(struct cgroup_limit *limit, const char *group)
{
    uint64_t quota, period, most, used = 0, cache = 0;

    if (sysfs_read_u64(&quota, "%s/cpu.cfs_quota_us", group) == 0
        && sysfs_read_u64(&period, "%s/cpu.cfs_period_us", group) == 0)
        limit_cpus(limit, (double)quota, (double)period);
    if (sysfs_read_u64(&most, "%s/memory.limit_in_bytes", group) < 0
        || most >= V1_UNLIMITED)
        return;
    (void)sysfs_read_u64(&used, "%s/memory.usage_in_bytes", group); /* or 0 */
    (void)sysfs_find_u64(&cache, "total_inactive_file ", "%s/memory.stat",
                         group);
    limit_memory(limit, most, used, cache);
}

static void read_group(void *arg, int version, const char *group)
{
    (version == 1 ? read_v1 : read_v2)(arg, group);
}

/* --- all groups of a process ---------------------------------------------- */

struct walk {
    cgroup_fn fn;
    void *arg;
};

/* The group <mount><path> and all above it, up to the mount. */
static void visit_groups(const struct walk *w,
                         int version,
                         const char *mount,
                         const char *path)
{
    char group[SYSFS_PATH], *slash;
    size_t top = strlen(mount);

    if (sysfs_path(group, "%s%s", mount, path) < 0)
        return;
    for (;;) {
        w->fn(w->arg, version, group);
        slash = strrchr(group + top, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
}

/* The groups of one version 1 hierarchy.  It is mounted under the name of
 * each of its controllers, which may be a link to "cpu,cpuacct". */
static void visit_hierarchy(const struct walk *w,
                            const char *root,
                            char *controllers,
                            const char *path)
{
    char mount[SYSFS_PATH], *save = NULL, *name;

    for (name = strtok_r(controllers, ",", &save); name;
         name = strtok_r(NULL, ",", &save))
        if ((strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0)
            && sysfs_path(mount, "%s/%s", root, name) == 0)
            visit_groups(w, 1, mount, path);
}

/* The groups of one line of /proc/self/cgroup, "number:controllers:path".
 * Version 2 has no controllers; beside version 1 it is mounted as "unified". */
static void visit_line(const struct walk *w, const char *root, char *line)
{
    char unified[SYSFS_PATH], *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (controllers[1]) {
        visit_hierarchy(w, root, controllers + 1, path);
        return;
    }
    visit_groups(w, 2, root, path);
    if (sysfs_path(unified, "%s/unified", root) == 0)
        visit_groups(w, 2, unified, path);
}

void cgroup_each(const char *proc,
                 const char *process,
                 const char *sysfs,
                 cgroup_fn fn,
                 void *arg)
{
    const struct walk w = {fn, arg};
    char path[SYSFS_PATH], root[SYSFS_PATH], line[SYSFS_PATH];
    FILE *file;

    if (sysfs_path(path, "%s/%s/cgroup", proc, process) < 0
        || sysfs_path(root, "%s/fs/cgroup", sysfs) < 0)
        return;
    file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        visit_line(&w, root, line);
    (void)fclose(file); /* only read */
}

void cgroup_limit_read(struct cgroup_limit *limit,
                       const char *proc,
                       const char *sysfs)
{
    *limit = (struct cgroup_limit){0, UINT64_MAX, UINT64_MAX};
    cgroup_each(proc, "self", sysfs, read_group, limit);
}
