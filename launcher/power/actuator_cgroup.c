/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the CPU time of the step's tasks, in microseconds a second.
 *
 * The cgroup is the one that Slurm has created for the step.  If there is none,
 * with v1 we create one below the group of the first task and move each task
 * there.  With v2 it would have to be beside that group, as a group with
 * processes cannot have limited children; that would take tasks out of other
 * limits, so v2 is refused.  In our own group each task gets one of its own;
 * what Slurm has created for the tasks below the step's is used likewise.
 * Threads get groups below that of their task.  No other group is ever changed.
 */
#include "launcher/power/actuator_cgroup.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/power/cgroup_parts.h"
#include "launcher/power/cgroup_place.h"
#include "launcher/power/cgroup_threads.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Slurm keeps all steps in it; "NODE_slurmstepd.scope" with several slurmd. */
#define SCOPE "slurmstepd.scope"

/* Is it the name that Slurm 26.05 gives a job: "s" and 13 digits of Crockford's
 * base 32, as sEKNKTV3WPV500?  The number of the job is not in it. */
static int is_sluid(const char *name)
{
    return name[0] == 's' && strlen(name) == 14
           && strspn(name + 1, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == 13;
}

/* Is this the group of the job: "job_J", or its SLUID in a slurmstepd.scope?
 * The latter can only be this job's, as root has put the task there. */
static int is_of_job(const char *path, uint32_t job)
{
    static const char scope[] = SCOPE;
    const char *slash = strrchr(path, '/');
    char name[32];

    snprintf(name, sizeof name, "/job_%u", job);
    if (!slash || strcmp(slash, name) == 0)
        return slash != NULL;
    return is_sluid(slash + 1) && (size_t)(slash - path) >= strlen(scope)
           && strncmp(slash - strlen(scope), scope, strlen(scope)) == 0;
}

/* Cut the path behind the step's group, ".../JOB/step_S"; 0 if it has none. */
static int cut_to_step(char *path, const struct actuator_place *place)
{
    char step[32], *at = path;
    size_t len = (size_t)snprintf(step, sizeof step, "/step_%u", place->step);

    while ((at = strstr(at, step)) != NULL) {
        char end = at[len];
        int is_step;

        *at = '\0';
        is_step = (end == '/' || end == '\0') && is_of_job(path, place->job);
        *at = '/';
        at += len;
        if (is_step) {
            *at = '\0';
            return 1;
        }
    }
    return 0;
}

/* An empty group of this name was left by an evenstep-power that was killed. */
static int make_group(struct actuator *a,
                      const char *above,
                      const struct actuator_place *place,
                      struct es_error *err)
{
    char line[SYSFS_LINE], group[SYSFS_PATH];

    if (sysfs_path(group, "%s/evenstep-power-%u.%u", above, place->job,
                   place->step)
        < 0)
        return es_fail(err, ES_ENV, "choose another actuator in power { }",
                       "cgroup: %s: %s", above, strerror(errno));
    if (mkdir(group, 0755) < 0 && errno != EEXIST)
        return es_fail(err, ES_ENV,
                       "start evenstep-power as root, or choose another "
                       "actuator in power { }",
                       "cgroup: %s: %s", group, strerror(errno));
    if (sysfs_read(line, "%s/cgroup.procs", group) == 0 && line[0])
        return es_fail(err, ES_ENV, "see what process it is",
                       "cgroup: %s is in use: process %s is in it", group,
                       line);
    memcpy(a->group, group, strlen(group) + 1);
    return 0;
}

/* The most CPU time that the tasks can get. */
static uint64_t ceiling(const struct actuator_place *place)
{
    struct cgroup_limit limit;
    cpu_set_t cpus;
    double n = 1;

    if (sched_getaffinity(place->task, sizeof cpus, &cpus) == 0)
        n = CPU_COUNT(&cpus);
    cgroup_limit_read(&limit, place->proc, place->sysfs);
    if (limit.cpus > 0 && limit.cpus < n)
        n = limit.cpus;
    return (uint64_t)(n * CGROUP_SECOND);
}

static int enter_cgroup(struct actuator *a, pid_t task, struct es_error *err)
{
    if (!a->group[0])
        return 0; /* Slurm has put it into the step's group */
    return cgroup_enter(a->group, task, err);
}

static int find_cgroup(struct actuator *a,
                       const struct actuator_place *place,
                       struct es_error *err)
{
    struct throttle_place where;

    if (cgroup_place_find(&where, place, place->task) < 0
        || strlen(where.path) >= SYSFS_PATH)
        return es_fail(err, ES_ENV,
                       "mount one with the cpu controller, or choose another "
                       "actuator in power { }",
                       "cgroup: the step has no cgroup that can be limited");
    a->version = where.version;
    a->floor = CGROUP_LEAST;
    a->ceiling = ceiling(place);
    if (a->ceiling < CGROUP_LEAST)
        a->ceiling = CGROUP_LEAST;
    if (cut_to_step(where.path, place)) {
        memcpy(a->above, where.path, strlen(where.path) + 1);
        return cgroup_add_knobs(a, where.path, a->floor, a->ceiling, err);
    }
    if (a->version == 2 && strstr(where.path, SCOPE))
        return es_fail(err, ES_ENV, "set CgroupJobIdPaths=yes in cgroup.conf",
                       "cgroup: %s is not the group of step %u.%u", where.path,
                       place->job, place->step);
    if (a->version == 2)
        return es_fail(err, ES_ENV,
                       "set CgroupPlugin=cgroup/v2 in cgroup.conf, or choose "
                       "another actuator in power { }",
                       "cgroup: Slurm has made no group for the step");
    if (make_group(a, where.path, place, err) < 0
        || cgroup_add_knobs(a, a->group, a->floor, a->ceiling, err) < 0)
        return -1;
    return enter_cgroup(a, place->task, err);
}

static void format_quota(const struct actuator *a,
                         const struct knob *knob,
                         uint64_t limit,
                         char text[KNOB_TEXT])
{
    uint64_t quota = limit * THROTTLE_PERIOD_US / CGROUP_SECOND;

    if (knob->least == knob->most) /* the period */
        quota = knob->most;
    if (a->version == 2)
        snprintf(text, KNOB_TEXT, "%ju %d", (uintmax_t)quota,
                 THROTTLE_PERIOD_US);
    else
        snprintf(text, KNOB_TEXT, "%ju", (uintmax_t)quota);
}

/* One without groups in it. */
static void remove_leaf(const char *group)
{
    char path[SYSFS_PATH], above[SYSFS_PATH], line[SYSFS_LINE];
    int tries = 0;

    while (rmdir(group) < 0 && errno == EBUSY && tries++ < KNOBS_MAX) {
        if (sysfs_path(path, "%s/cgroup.procs", group) < 0
            || sysfs_path(above, "%s/../cgroup.procs", group) < 0
            || sysfs_read(line, "%s", path) < 0
            || (line[0] && actuator_write(above, line) < 0))
            return;
    }
}

void actuator_remove_group(const char *group)
{
    DIR *list = opendir(group);
    char path[SYSFS_PATH];
    struct dirent *d;

    cgroup_threads_join(group);
    while (list && (d = readdir(list)) != NULL)
        if (strncmp(d->d_name, CGROUP_TASK, strlen(CGROUP_TASK)) == 0
            && sysfs_path(path, "%s/%s", group, d->d_name) == 0)
            remove_leaf(path);
    if (list)
        closedir(list);
    remove_leaf(group);
}

static void remove_own_group(struct actuator *a)
{
    if (a->group[0])
        actuator_remove_group(a->group);
    else if (a->above[0])
        cgroup_threads_join(a->above);
}

const struct actuator_kind cgroup_kind = {.name = "cgroup",
                                          .unit = "us/s",
                                          .is_nested = 1,
                                          .find = find_cgroup,
                                          .format = format_quota,
                                          .format_part = format_quota,
                                          .divide = cgroup_divide,
                                          .enter = enter_cgroup,
                                          .remove = remove_own_group};
