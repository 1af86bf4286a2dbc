/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU bandwidth of the step's tasks, in microseconds of CPU time a second.
 * The group is the one that Slurm has made for the step, or, if there is none,
 * of v1, one that we make where the first task is, and into which each task is
 * moved.  Of v2 that would be beside the group where the task is, as one with
 * processes has no children with limits; and it is not for us to take a task
 * out of whatever limits it has there.  A group of anybody else is never
 * touched.
 */
#include "launcher/power/actuator_cgroup.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/exec/throttle.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_US 1000000u
#define TEXT_SIZE (256 << 10) /* of /proc/self/mountinfo: a thousand mounts */
/* In which Slurm has all steps; "NODE_slurmstepd.scope" with several slurmd. */
#define SCOPE "slurmstepd.scope"
/* What the kernel's least quota comes to in our period. */
#define FLOOR ((uint64_t)SECOND_US / THROTTLE_PERIOD_US * THROTTLE_QUOTA_US)

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

static int find_place(struct throttle_place *where,
                      const struct actuator_place *place)
{
    char path[SYSFS_PATH], *mounts = NULL, *groups = NULL;
    int rc = -1;

    if (sysfs_path(path, "%s/self/mountinfo", place->proc) == 0)
        mounts = read_text(path);
    if (sysfs_path(path, "%s/%d/cgroup", place->proc, (int)place->task) == 0)
        groups = read_text(path);
    if (mounts && groups)
        rc = throttle_find(mounts, groups, where);
    free(mounts);
    free(groups);
    return rc;
}

/* Slurm 26.05's own name of a job: "s" and 64 bits as 13 digits to base 32, by
 * Crockford's alphabet, as sEKNKTV3WPV500.  It does not tell the job's number.
 */
static int is_sluid(const char *name)
{
    return name[0] == 's' && strlen(name) == 14
           && strspn(name + 1, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == 13;
}

/* Is the group of this path a job's: "job_J", or in a slurmstepd.scope its
 * SLUID?  In the latter no other job's can be: it was root that has put the
 * task there, for this job. */
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

/* A group of our name is ours if nothing runs in it: of one killed before. */
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
                       "cgroup: %s is not ours: process %s is in it", group,
                       line);
    memcpy(a->group, group, strlen(group) + 1);
    return 0;
}

/* The CPU time that the tasks may have at most. */
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
    return (uint64_t)(n * SECOND_US);
}

static int add_knobs(struct actuator *a,
                     const char *group,
                     struct es_error *err)
{
    char path[SYSFS_PATH];

    if (a->version == 2)
        return sysfs_path(path, "%s/cpu.max", group) < 0
                   ? -1
                   : actuator_add(a, path, a->floor, a->ceiling, err);
    if (sysfs_path(path, "%s/cpu.cfs_period_us", group) < 0
        || actuator_add(a, path, THROTTLE_PERIOD_US, THROTTLE_PERIOD_US, err)
               < 0)
        return -1;
    return sysfs_path(path, "%s/cpu.cfs_quota_us", group) < 0
               ? -1
               : actuator_add(a, path, a->floor, a->ceiling, err);
}

static int enter(struct actuator *a, pid_t task, struct es_error *err)
{
    char path[SYSFS_PATH], text[KNOB_TEXT];

    if (!a->group[0])
        return 0; /* Slurm has put it where it belongs */
    snprintf(text, sizeof text, "%d", (int)task);
    if (sysfs_path(path, "%s/cgroup.procs", a->group) == 0
        && actuator_write(path, text) == 0)
        return 0;
    return es_fail(err, ES_ENV, "see that evenstep-power may write it",
                   "cgroup: %s: %s", a->group, strerror(errno));
}

static int find(struct actuator *a,
                const struct actuator_place *place,
                struct es_error *err)
{
    struct throttle_place where;

    if (find_place(&where, place) < 0 || strlen(where.path) >= SYSFS_PATH)
        return es_fail(err, ES_ENV,
                       "mount one with the cpu controller, or choose another "
                       "actuator in power { }",
                       "cgroup: the step has no cgroup that can be limited");
    a->version = where.version;
    a->floor = FLOOR;
    a->ceiling = ceiling(place);
    if (a->ceiling < FLOOR)
        a->ceiling = FLOOR;
    if (cut_to_step(where.path, place))
        return add_knobs(a, where.path, err);
    if (a->version == 2 && strstr(where.path, SCOPE))
        return es_fail(err, ES_ENV, "set CgroupJobIdPaths=yes in cgroup.conf",
                       "cgroup: %s is not the group of step %u.%u", where.path,
                       place->job, place->step);
    if (a->version == 2)
        return es_fail(err, ES_ENV,
                       "set CgroupPlugin=cgroup/v2 in cgroup.conf, or choose "
                       "another actuator in power { }",
                       "cgroup: Slurm has made no group of the step");
    if (make_group(a, where.path, place, err) < 0
        || add_knobs(a, a->group, err) < 0)
        return -1;
    return enter(a, place->task, err);
}

static void format(const struct actuator *a,
                   const struct knob *knob,
                   uint64_t limit,
                   char text[KNOB_TEXT])
{
    uint64_t quota = limit * THROTTLE_PERIOD_US / SECOND_US;

    if (knob->least == knob->most) /* the period */
        quota = knob->most;
    if (a->version == 2)
        snprintf(text, KNOB_TEXT, "%ju %d", (uintmax_t)quota,
                 THROTTLE_PERIOD_US);
    else
        snprintf(text, KNOB_TEXT, "%ju", (uintmax_t)quota);
}

void actuator_remove_group(const char *group)
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

static void remove_group(struct actuator *a)
{
    if (a->group[0])
        actuator_remove_group(a->group);
}

const struct actuator_kind cgroup_kind = {.name = "cgroup",
                                          .unit = "us/s",
                                          .find = find,
                                          .format = format,
                                          .enter = enter,
                                          .remove = remove_group};
