/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any texts as a node's control groups: /proc/self/cgroup, then the files of
 * the group of version 2, then those of version 1, each up to a NUL.  What
 * comes out limits, or does not.
 */
#include "launcher/base/cgroup_limit.h"

#include "folder.h"

#include <math.h>

#define V1 "sys/fs/cgroup/cpu/"
#define V2 "sys/fs/cgroup/"
#define VM "sys/fs/cgroup/memory/"

static const char *const files[] = {
    "proc/self/cgroup",
    V2 "cpu.max",
    V2 "memory.max",
    V2 "memory.current",
    V2 "memory.stat",
    V1 "cpu.cfs_quota_us",
    V1 "cpu.cfs_period_us",
    VM "memory.limit_in_bytes",
    VM "memory.usage_in_bytes",
    VM "memory.stat",
};
#define FILES (sizeof files / sizeof *files)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(const uint8_t *data, size_t size)
{
    static int fd[FILES];

    for (size_t i = 0; i < FILES; i++) {
        const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
        size_t len = end ? (size_t)(end - data) : size;

        if (fd[i] == 0)
            fd[i] = folder_file(files[i]);
        folder_fill(fd[i], data, len);
        data += len + (end != NULL);
        size -= len + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cgroup_limit limit;
    char proc[4096], sysfs[4096];

    fill(data, size);
    cgroup_limit_read(&limit, folder_path(proc, "proc"),
                      folder_path(sysfs, "sys"));
    if (!isfinite(limit.cpus) || limit.cpus < 0
        || limit.free_bytes > limit.memory_bytes)
        abort();
    return 0;
}
