/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/cgroup_threads.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME    "evenstep-thread-" /* and its id */
#define LEVELS  3                  /* from a step's group to those of threads */
#define MOVES   (4 * PART_TASKS_MAX) /* threads may begin meanwhile */
#define LIST_V1 "tasks"
#define LIST_V2 "cgroup.threads"

void cgroup_threads_cut(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash && strncmp(slash + 1, NAME, strlen(NAME)) == 0)
        *slash = '\0';
}

int cgroup_threads_path(char path[SYSFS_PATH], const char *task, pid_t thread)
{
    return sysfs_path(path, "%s/" NAME "%d", task, (int)thread);
}

/* --- one group ------------------------------------------------------------ */

static int move_thread(const char *to, const char *list, const char *thread)
{
    char path[SYSFS_PATH];

    if (sysfs_path(path, "%s/%s", to, list) < 0)
        return -1;
    return actuator_write(path, thread);
}

/* Until nothing is left; -1 if there is no end of it, or one does not go. */
static int move_all(const char *from, const char *to, const char *list)
{
    char line[SYSFS_LINE], before[SYSFS_LINE] = "";

    for (int i = 0; i < MOVES; i++) {
        if (sysfs_read(line, "%s/%s", from, list) < 0)
            return -1;
        if (!line[0])
            return 0;
        if (strcmp(line, before) == 0)
            break;
        memcpy(before, line, sizeof line);
        if (move_thread(to, list, line) < 0 && errno != ESRCH)
            return -1;
    }
    errno = EBUSY;
    return -1;
}

static int write_to(const char *group, const char *file, const char *text)
{
    char path[SYSFS_PATH];

    if (sysfs_path(path, "%s/%s", group, file) < 0)
        return -1;
    return actuator_write(path, text);
}

/* One that is there was left by a guard that was killed. */
static int make_group(const char *task, int version, pid_t thread)
{
    char group[SYSFS_PATH], text[KNOB_TEXT];

    snprintf(text, sizeof text, "%d", (int)thread);
    if (cgroup_threads_path(group, task, thread) < 0
        || (mkdir(group, 0755) < 0 && errno != EEXIST))
        return -1;
    if (version == 2
        && (write_to(group, "cgroup.type", "threaded") < 0
            || write_to(task, "cgroup.subtree_control", "+cpu") < 0))
        return -1;
    return move_thread(group, version == 2 ? LIST_V2 : LIST_V1, text);
}

static void remove_group(const char *task, const char *name)
{
    char group[SYSFS_PATH], line[SYSFS_LINE];
    int is_v2;

    if (sysfs_path(group, "%s/%s", task, name) < 0)
        return;
    is_v2 = sysfs_read(line, "%s/" LIST_V2, group) == 0;
    (void)move_all(group, task, is_v2 ? LIST_V2 : LIST_V1);
    (void)rmdir(group); /* a thread that is ending keeps it; see the epilog */
    if (is_v2)
        (void)write_to(task, "cgroup.subtree_control", "-cpu");
}

/* --- all ------------------------------------------------------------------ */

static void join_below(const char *top, int levels)
{
    DIR *list = opendir(top);
    char path[SYSFS_PATH];
    struct dirent *d;

    while (list && (d = readdir(list)) != NULL)
        if (strncmp(d->d_name, NAME, strlen(NAME)) == 0)
            remove_group(top, d->d_name);
        else if (levels > 1 && d->d_type == DT_DIR && d->d_name[0] != '.'
                 && sysfs_path(path, "%s/%s", top, d->d_name) == 0)
            join_below(path, levels - 1);
    if (list)
        closedir(list);
}

void cgroup_threads_join(const char *top)
{
    join_below(top, LEVELS);
}

int cgroup_threads_split(const char *task,
                         int version,
                         const pid_t thread[],
                         size_t n,
                         struct es_error *err)
{
    char first[SYSFS_PATH];
    int rc = cgroup_threads_path(first, task, thread[0]), why;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = make_group(task, version, thread[i]);
    if (rc == 0)
        rc = move_all(task, first, version == 2 ? LIST_V2 : LIST_V1);
    if (rc == 0)
        return 0;
    why = errno;
    cgroup_threads_join(task);
    return es_fail(err, ES_ENV, "choose another actuator in power { }",
                   "cgroup: %s: its threads cannot be told apart: %s", task,
                   strerror(why));
}
