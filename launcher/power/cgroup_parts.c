/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/cgroup_parts.h"
#include "launcher/power/allowed_cpus.h"
#include "launcher/power/cgroup_place.h"
#include "launcher/power/cgroup_threads.h"

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
    len = strlen(path);
    for (size_t i = a->own; i < a->n; i++)
        if (strncmp(path, a->knob[i].path, len) == 0
            && a->knob[i].path[len] == '/')
            return 0;
    return 1;
}

/* What can be used of these CPUs, and no more than the node has. */
static uint64_t most_of(const struct actuator *a,
                        const struct allowed_cpus *cpus)
{
    uint64_t n = allowed_cpus_count(cpus), most = a->ceiling;

    if (n > 0 && n < a->ceiling / CGROUP_SECOND)
        most = n * CGROUP_SECOND;
    return most > CGROUP_LEAST ? most : CGROUP_LEAST;
}

/* The group that a task or thread is in, its task's if it has one of its own: of
 * v2 cgroup_place_find() tells the one above, in which groups can be made. */
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
    if (a->version == 1) {
        cgroup_threads_cut(where.path);
        return sysfs_path(path, "%s", where.path);
    }
    if (sysfs_find(line, "0::", "%s/%d/cgroup", place->proc, (int)task) < 0)
        return -1;
    name = strrchr(line, '/');
    if (!name || sysfs_path(path, "%s%s", where.path, name) < 0)
        return -1;
    cgroup_threads_cut(path);
    return 0;
}

/* Limit a task or thread that has this group to itself. */
static int add_part(struct actuator *a,
                    const char *group,
                    pid_t run,
                    uint64_t most,
                    struct es_error *err)
{
    uint32_t number = (uint32_t)a->parts.n;
    size_t first = a->n;

    if (number == PARTS_MAX)
        return es_fail(err, ES_ENV, "choose another actuator in power { }",
                       "cgroup: the node has more than %d tasks", PARTS_MAX);
    a->parts.part[number] = (struct power_part){CGROUP_LEAST, most, 0};
    if (cgroup_add_knobs(a, group, CGROUP_LEAST, most, err) < 0)
        return -1;
    for (size_t i = first; i < a->n; i++)
        a->knob[i].part = number;
    a->parts.n++;
    actuator_add_run(a, run, number);
    return 0;
}

/* Those of the threads that are in a task's group, if they are pinned to CPUs
 * that no other of them may use.  Returns how many; 0: they are not. */
static size_t find_threads(const struct actuator *a,
                           const struct actuator_place *place,
                           const struct actuator_runs *runs,
                           const char *task,
                           pid_t thread[PART_TASKS_MAX])
{
    char group[SYSFS_PATH];
    size_t n = 0;

    for (size_t i = 0; i < runs->threads && n < PART_TASKS_MAX; i++) {
        if (find_group(group, a, place, runs->thread[i]) == 0
            && strcmp(group, task) == 0)
            thread[n++] = runs->thread[i];
    }
    return allowed_cpus_apart(thread, n) ? n : 0;
}

static int add_threads(struct actuator *a,
                       const char *task,
                       const pid_t thread[],
                       size_t n,
                       struct es_error *err)
{
    char group[SYSFS_PATH];
    struct allowed_cpus cpus;

    if (cgroup_threads_split(task, a->version, thread, n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (cgroup_threads_path(group, task, thread[i]) < 0
            || allowed_cpus_read(&cpus, thread[i]) < 0
            || add_part(a, group, thread[i], most_of(a, &cpus), err) < 0)
            return -1;
    return 0;
}

static int add_task(struct actuator *a,
                    const struct actuator_place *place,
                    const struct actuator_runs *runs,
                    pid_t task,
                    struct es_error *err)
{
    pid_t thread[PART_TASKS_MAX];
    struct allowed_cpus cpus = {{0}};
    char group[SYSFS_PATH];
    size_t n;

    if (find_group(group, a, place, task) < 0 || !is_own(a, group))
        return es_fail(err, ES_ENV, "choose another actuator in power { }",
                       "cgroup: task %d has no group of its own", (int)task);
    cgroup_threads_join(group);
    n = find_threads(a, place, runs, group, thread);
    if (n > 1)
        return add_threads(a, group, thread, n, err);
    (void)allowed_cpus_read_all(&cpus, task); /* none: it has just ended */
    return add_part(a, group, task, most_of(a, &cpus), err);
}

int cgroup_divide(struct actuator *a,
                  const struct actuator_place *place,
                  const struct actuator_runs *runs,
                  struct es_error *err)
{
    for (size_t i = 0; i < runs->tasks; i++)
        if ((kill(runs->task[i], 0) == 0 || errno != ESRCH)
            && add_task(a, place, runs, runs->task[i], err) < 0)
            return -1;
    return 0;
}
