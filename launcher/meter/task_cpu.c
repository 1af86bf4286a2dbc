/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/task_cpu.h"
#include "launcher/base/number.h"
#include "launcher/base/sysfs.h"
#include "launcher/meter/process_times.h"
#include "pmix_bcast/array.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process that becomes a task has slurmstepd's environment before. */
#define LOOKS         8
#define ENVIRON_BYTES (256u << 10) /* of one; Slurm's variables are in it */
#define NS            1000000000u

struct task {
    struct task_cpu seen;
    uint64_t ticks; /* of all its processes */
};

struct task_cpus {
    const char *proc, *node;
    uint32_t job, step;
    uint64_t ticks_s; /* clock ticks of a second */
    struct process_times *known, *found;
    size_t n_known, known_room, n_found, found_room;
    struct task *task;
    size_t n_tasks, task_room;
    char *environ;
};

/* --- one process ---------------------------------------------------------- */

static uint64_t ticks_of(long long user, long long system)
{
    return (uint64_t)(user > 0 ? user : 0)
           + (uint64_t)(system > 0 ? system : 0);
}

/* See /proc/[pid]/stat in proc(5): the second field is a name, which may
 * contain blanks and brackets.  -1 if the process has ended. */
static int read_stat(const struct task_cpus *t, struct process_times *p)
{
    long long own, system, waited, waited_system;
    unsigned long long start;
    char line[SYSFS_LINE];
    const char *rest;
    int parent;

    if (sysfs_read(line, "%s/%d/stat", t->proc, (int)p->pid) < 0)
        return -1;
    rest = strrchr(line, ')');
    if (!rest
        || sscanf(rest + 1,
                  " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld "
                  "%lld %*d %*d %*d %*d %llu",
                  &parent, &own, &system, &waited, &waited_system, &start)
               != 6)
        return -1;
    p->parent = (pid_t)parent;
    p->start = start;
    p->own = ticks_of(own, system);
    p->waited = ticks_of(waited, waited_system);
    return 0;
}

/* Its bytes, with a NUL behind them; -1 if it may not be read. */
static ssize_t read_environ(const struct task_cpus *t, pid_t pid)
{
    char path[SYSFS_PATH];
    size_t len = 0;
    ssize_t n = 1;
    int fd;

    if (sysfs_path(path, "%s/%d/environ", t->proc, (int)pid) < 0)
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (n > 0 && len < ENVIRON_BYTES) {
        n = read(fd, t->environ + len, ENVIRON_BYTES - len);
        len += n > 0 ? (size_t)n : 0;
    }
    (void)close(fd);
    t->environ[len] = '\0';
    return n < 0 ? -1 : (ssize_t)len;
}

struct identity {
    uint64_t job, step, rank, size, ntasks, cpus;
    const char *node;
};

static void take_variable(struct identity *id, const char *variable)
{
    const struct {
        const char *name;
        uint64_t *value;
    } known[] = {
        {"SLURM_JOB_ID=", &id->job},    {"SLURM_STEP_ID=", &id->step},
        {"SLURM_PROCID=", &id->rank},   {"SLURM_STEP_NUM_TASKS=", &id->size},
        {"SLURM_NTASKS=", &id->ntasks}, {"SLURM_CPUS_PER_TASK=", &id->cpus},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t len = strlen(known[i].name);

        if (strncmp(variable, known[i].name, len) == 0)
            (void)number_parse_u64(variable + len, known[i].value);
    }
    if (strncmp(variable, "SLURMD_NODENAME=", 16) == 0)
        id->node = variable + 16;
}

/* -1 if it is not of the step. */
static int identify(const struct task_cpus *t, pid_t pid, struct task_cpu *who)
{
    struct identity id = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 0, 1, NULL};
    ssize_t len = read_environ(t, pid);

    for (const char *at = t->environ; len > 0 && at < t->environ + len;
         at += strlen(at) + 1)
        if (strncmp(at, "SLURM", strlen("SLURM")) == 0)
            take_variable(&id, at);
    if (id.size == 0)
        id.size = id.ntasks;
    if (id.job != t->job || id.step != t->step || id.rank >= id.size
        || (t->node && id.node && strcmp(t->node, id.node) != 0)
        || id.size > UINT32_MAX || id.cpus < 1 || id.cpus > UINT32_MAX)
        return -1;
    *who = (struct task_cpu){.rank = (uint32_t)id.rank,
                             .size = (uint32_t)id.size,
                             .cpus = (uint32_t)id.cpus};
    return 0;
}

/* --- tasks ---------------------------------------------------------------- */

static int find_task(struct task_cpus *t,
                     const struct task_cpu *who,
                     uint64_t start)
{
    struct task *grown;
    size_t i = 0;

    while (i < t->n_tasks && t->task[i].seen.rank != who->rank)
        i++;
    if (i < t->n_tasks)
        return (int)i;
    grown = array_grow(t->task, &t->task_room, i + 1, sizeof *grown,
                       TASK_CPU_TASKS);
    if (!grown)
        return PROCESS_OTHER;
    t->task = grown;
    t->task[i] = (struct task){.seen = *who};
    t->task[i].seen.begun_ns =
        start / t->ticks_s * NS + start % t->ticks_s * NS / t->ticks_s;
    t->n_tasks++;
    return (int)i;
}

static void sum_up(const struct task_cpus *t, struct task *task)
{
    task->seen.cpu_ns = task->ticks / t->ticks_s * NS
                        + task->ticks % t->ticks_s * NS / t->ticks_s;
}

/* --- a look --------------------------------------------------------------- */

static int is_own(const struct task_cpus *t, const char *pid)
{
    char path[SYSFS_PATH];
    struct stat st;

    return sysfs_path(path, "%s/%s", t->proc, pid) == 0 && stat(path, &st) == 0
           && st.st_uid == geteuid();
}

/* Whose a process is, which is kept. */
static void look_at(struct task_cpus *t, const char *name)
{
    int64_t pid;
    struct process_times p = {.task = PROCESS_OTHER}, *grown;
    const struct process_times *before;
    struct task_cpu who;

    if (number_parse_int(name, 1, INT32_MAX, &pid) < 0 || !is_own(t, name))
        return;
    p.pid = (pid_t)pid;
    if (read_stat(t, &p) < 0)
        return;
    before = process_times_find(t->known, t->n_known, p.pid, p.start);
    if (before) {
        p.task = before->task;
        p.looks = before->looks;
    }
    if (p.task == PROCESS_OTHER && p.looks < LOOKS) {
        p.looks++;
        if (identify(t, p.pid, &who) == 0)
            p.task = find_task(t, &who, p.start);
    }
    grown = array_grow(t->found, &t->found_room, t->n_found + 1, sizeof *grown,
                       SIZE_MAX);
    if (!grown)
        return; /* it is looked at anew the next time */
    t->found = grown;
    t->found[t->n_found++] = p;
}

/* Parents before their children, whatever their numbers: so one that ends in
 * the middle is missed now, and never counted twice. */
static void read_times(struct task_cpus *t)
{
    size_t n = 0;

    if (t->n_found == 0)
        return;
    qsort(t->found, t->n_found, sizeof *t->found, process_times_by_start);
    for (size_t i = 0; i < t->n_found; i++) {
        struct process_times p = t->found[i];

        if (p.task == PROCESS_OTHER
            || (read_stat(t, &p) == 0 && p.start == t->found[i].start))
            t->found[n++] = p;
    }
    t->n_found = n;
    qsort(t->found, t->n_found, sizeof *t->found, process_times_by_pid);
}

/* What was found becomes what is known. */
static void keep_found(struct task_cpus *t)
{
    struct process_times *known = t->known;
    size_t room = t->known_room;

    t->known = t->found;
    t->known_room = t->found_room;
    t->n_known = t->n_found;
    t->found = known;
    t->found_room = room;
    t->n_found = 0;
}

static void add_times(struct task_cpus *t)
{
    process_times_count(t->found, t->n_found, t->known, t->n_known);
    for (size_t i = 0; i < t->n_tasks; i++)
        t->task[i].seen.is_alive = 0;
    for (size_t i = 0; i < t->n_found; i++)
        if (t->found[i].task != PROCESS_OTHER) {
            t->task[t->found[i].task].ticks += t->found[i].more;
            t->task[t->found[i].task].seen.is_alive = 1;
        }
    for (size_t i = 0; i < t->n_tasks; i++)
        sum_up(t, &t->task[i]);
}

void task_cpus_look(struct task_cpus *t)
{
    DIR *all = opendir(t->proc);
    const struct dirent *d;

    if (!all)
        return;
    while ((d = readdir(all)) != NULL)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
            look_at(t, d->d_name);
    (void)closedir(all);
    read_times(t);
    add_times(t);
    keep_found(t);
}

/* --- start and end -------------------------------------------------------- */

struct task_cpus *task_cpus_open(const char *proc,
                                 const char *node,
                                 uint32_t job,
                                 uint32_t step)
{
    struct task_cpus *t = calloc(1, sizeof *t);
    long ticks = sysconf(_SC_CLK_TCK);

    if (!t)
        return NULL;
    t->proc = proc;
    t->node = node;
    t->job = job;
    t->step = step;
    t->ticks_s = ticks > 0 ? (uint64_t)ticks : 100;
    t->environ = malloc(ENVIRON_BYTES + 1);
    if (!t->environ) {
        free(t);
        return NULL;
    }
    return t;
}

size_t task_cpus_count(const struct task_cpus *t)
{
    return t->n_tasks;
}

const struct task_cpu *task_cpus_at(const struct task_cpus *t, size_t i)
{
    return &t->task[i].seen;
}

void task_cpus_close(struct task_cpus *t)
{
    if (!t)
        return;
    free(t->known);
    free(t->found);
    free(t->task);
    free(t->environ);
    free(t);
}
