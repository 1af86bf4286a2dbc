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
#include "launcher/exec/throttle.h"
#include "launcher/power/actuator_kind.h"
#include "launcher/power/allowed_cpus.h"
#include "launcher/power/cgroup_threads.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- cgroup place -------------------------------------------------------------- */

/* Where the cgroups of a step's tasks are, and their knobs. */

#define CGROUP_SECOND 1000000u /* microseconds: of limits */

#define CGROUP_TASK "task-" /* and its pid: the group of a task in ours */

/* The kernel's least quota, in microseconds a second. */
#define CGROUP_LEAST                                                           \
    ((uint64_t)CGROUP_SECOND / THROTTLE_PERIOD_US * THROTTLE_QUOTA_US)

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

/* The group of a task.  0, or -1 if it has none that can be limited. */
static int cgroup_place_find(struct throttle_place *where,
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

/* Add the knobs of a group, for limits between these two. */
static int cgroup_add_knobs(struct actuator *a,
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

/* --- cgroup parts -------------------------------------------------------------- */

/* CPU bandwidth of each task of the step by itself, or of each of
 * its threads. */

static int move_to(const char *group, pid_t task)
{
    char path[SYSFS_PATH], text[KNOB_TEXT];

    snprintf(text, sizeof text, "%d", (int)task);
    if (sysfs_path(path, "%s/cgroup.procs", group) < 0)
        return -1;
    return actuator_write(path, text);
}

/* Move a task that has just begun into a group of its own below our group, or,
 * where that cannot be made, into our group. */
static int cgroup_enter(const char *group, pid_t task, struct es_error *err)
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

/* As in actuator_kind.h.  The groups of the tasks are below that of the step,
 * made by Slurm or by us.  If a task that lives has none to itself, there is
 * nothing to divide: it would have no limit at all.  A task of which two or more
 * threads are told, each pinned to other CPUs, has a part for each of these. */
static int cgroup_divide(struct actuator *a,
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

/* --- actuator cgroup ----------------------------------------------------------- */

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
