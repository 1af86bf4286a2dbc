/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/cgroup_place.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_SIZE (256 << 10) /* of /proc/self/mountinfo: a thousand mounts */

/* The text of a file in /proc; the caller frees.  NULL: errno. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(TEXT_SIZE) : NULL;
    size_t len = text ? fread(text, 1, TEXT_SIZE - 1, file) : 0;

    if (text)
        text[len] = '\0';
    if (file)
        (void)fclose(file); /* only read */
    return text;
}

int cgroup_place_find(struct throttle_place *where,
                      const struct actuator_place *place,
                      pid_t task)
{
    char path[SYSFS_PATH], *mounts = NULL, *groups = NULL;
    int rc = -1;

    if (sysfs_path(path, "%s/self/mountinfo", place->proc) == 0)
        mounts = read_text(path);
    if (sysfs_path(path, "%s/%d/cgroup", place->proc, (int)task) == 0)
        groups = read_text(path);
    if (mounts && groups)
        rc = throttle_find(mounts, groups, where);
    free(mounts);
    free(groups);
    return rc;
}

int cgroup_add_knobs(struct actuator *a,
                     const char *group,
                     uint64_t least,
                     uint64_t most,
                     struct es_error *err)
{
    char path[SYSFS_PATH];

    if (a->version == 2)
        return sysfs_path(path, "%s/cpu.max", group) < 0
                   ? -1
                   : actuator_add(a, path, least, most, err);
    if (sysfs_path(path, "%s/cpu.cfs_period_us", group) < 0
        || actuator_add(a, path, THROTTLE_PERIOD_US, THROTTLE_PERIOD_US, err)
               < 0)
        return -1;
    return sysfs_path(path, "%s/cpu.cfs_quota_us", group) < 0
               ? -1
               : actuator_add(a, path, least, most, err);
}
