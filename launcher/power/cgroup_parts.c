/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/cgroup_parts.h"
#include "launcher/power/allowed_cpus.h"
#include "launcher/power/cgroup_place.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int move_to(const char *group, pid_t task)
{
    char path[SYSFS_PATH], text[KNOB_TEXT];

    snprintf(text, sizeof text, "%d", (int)task);
    if (sysfs_path(path, "%s/cgroup.procs", group) < 0)
        return -1;
    return actuator_write(path, text);
}

int cgroup_enter(const char *group, pid_t task, struct es_error *err)
{
    char own[SYSFS_PATH];

    if (sysfs_path(own, "%s/" CGROUP_TASK "%d", group, (int)task) == 0
        && (mkdir(own, 0755) == 0 || errno == EEXIST)
        && move_to(own, task) == 0)
        return 0;
    if (move_to(group, task) == 0)
        return 0;
    return es_fail(err, ES_ENV, "see that evenstep-power may write it",
                   "cgroup: %s: %s", group, strerror(errno));
}

/* The length of the folder's name in a path. */
static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) : 0;
}

/* Is a path below the group of the step, and no other task's? */
static int is_own(const struct actuator *a, const char *path)
{
    size_t len = folder_len(a->knob[0].path);

    if (strncmp(path, a->knob[0].path, len) != 0 || path[len] != '/')
        return 0;
    for (size_t i = a->own; i < a->n; i++) {
        len = folder_len(a->knob[i].path);
        if (strlen(path) == len && strncmp(path, a->knob[i].path, len) == 0)
            return 0;
    }
    return 1;
}

/* What a task can use: its CPUs, and no more than the node has. */
static uint64_t most_of(const struct actuator *a, pid_t task)
{
    struct allowed_cpus cpus;
    uint64_t most = a->ceiling;

    if (allowed_cpus_read(&cpus, task) == 0
        && allowed_cpus_count(&cpus) < a->ceiling / CGROUP_SECOND)
        most = (uint64_t)allowed_cpus_count(&cpus) * CGROUP_SECOND;
    return most > CGROUP_LEAST ? most : CGROUP_LEAST;
}

/* The group that a task is in: of v2 cgroup_place_find() tells the one above, in
 * which groups can be made. */
static int find_group(char path[SYSFS_PATH],
                      const struct actuator *a,
                      const struct actuator_place *place,
                      pid_t task)
{
    struct throttle_place where;
    char line[SYSFS_LINE];
    const char *name;

    if (cgroup_place_find(&where, place, task) < 0
        || where.version != a->version)
        return -1;
    if (a->version == 1)
        return sysfs_path(path, "%s", where.path);
    if (sysfs_find(line, "0::", "%s/%d/cgroup", place->proc, (int)task) < 0
        || !(name = strrchr(line, '/')))
        return -1;
    return sysfs_path(path, "%s%s", where.path, name);
}

static int add_task(struct actuator *a,
                    const struct actuator_place *place,
                    pid_t task,
                    struct es_error *err)
{
    uint32_t number = (uint32_t)a->parts.n;
    char group[SYSFS_PATH];
    size_t first = a->n;

    if (number == PARTS_MAX || find_group(group, a, place, task) < 0
        || !is_own(a, group))
        return es_fail(err, ES_ENV, "choose another actuator in power { }",
                       "cgroup: task %d has no group of its own", (int)task);
    a->parts.part[number] =
        (struct power_part){CGROUP_LEAST, most_of(a, task), 0};
    if (cgroup_add_knobs(a, group, CGROUP_LEAST, a->parts.part[number].most,
                         err)
        < 0)
        return -1;
    for (size_t i = first; i < a->n; i++)
        a->knob[i].part = number;
    a->parts.n++;
    return 0;
}

int cgroup_divide(struct actuator *a,
                  const struct actuator_place *place,
                  struct es_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < a->parts.tasks; i++) {
        pid_t task = a->parts.task[i].pid;

        if (kill(task, 0) < 0 && errno == ESRCH)
            continue;
        if (add_task(a, place, task, err) < 0)
            return -1;
        a->parts.task[n].pid = task;
        a->parts.task[n].part = (uint32_t)n;
        n++;
    }
    a->parts.tasks = n;
    return 0;
}
