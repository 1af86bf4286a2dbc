/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/process_use.h"
#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAT_BYTES 1024
#define NS         UINT64_C(1000000000)
#define THREADS    256 /* of a process: others do not count */
/* Of the threads beside, in this many parts of what the one has had. */
#define IDLE_PART 20

/* --- files ---------------------------------------------------------------- */

static int open_file(const struct process_use *u, const char *name)
{
    char path[SYSFS_PATH];

    if (sysfs_path(path, "%s/%d/%s", u->proc, (int)u->pid, name) < 0)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* From its beginning. */
static int read_file(int fd, char text[STAT_BYTES])
{
    ssize_t n = fd < 0 ? -1 : pread(fd, text, STAT_BYTES - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- one thread ----------------------------------------------------------- */

/* schedstat: it ran, and was ready to run. */
static int read_times(int fd, uint64_t *cpu_ns, uint64_t *delay_ns)
{
    char text[STAT_BYTES];

    return read_file(fd, text) == 0
                   && sscanf(text, "%" SCNu64 " %" SCNu64, cpu_ns, delay_ns)
                          == 2
               ? 0
               : -1;
}

/* --- all of it ------------------------------------------------------------ */

static uint64_t ticks_ns(uint64_t ticks)
{
    long s = sysconf(_SC_CLK_TCK);
    uint64_t per_s = s > 0 ? (uint64_t)s : 100;

    return ticks / per_s * NS + ticks % per_s * NS / per_s;
}

/* See /proc/[pid]/stat in proc(5).  The process is not there, or a zombie: -1. */
static int read_stat(struct process_use *u)
{
    uint64_t user, kernel, io = 0;
    char text[STAT_BYTES], state;
    const char *rest;

    if (read_file(u->stat_fd, text) < 0)
        return -1;
    rest = strrchr(text, ')');
    if (!rest
        || sscanf(rest + 1,
                  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64
                  " %" SCNu64 " %*d %*d %*d %*d %*d %*d %*u %*u %*d %*u %*u "
                  "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %*d %*u "
                  "%*u %" SCNu64,
                  &state, &user, &kernel, &io)
               < 3)
        return -1;
    u->cpu_ns = larger(u->cpu_ns, ticks_ns(user + kernel));
    u->io_wait_ns = larger(u->io_wait_ns, ticks_ns(io));
    return state == 'Z' || state == 'X' ? -1 : 0;
}

static void read_status(struct process_use *u)
{
    char text[STAT_BYTES * 4];
    const char *at;
    uint64_t v;
    int fd = open_file(u, "status");
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, "\nVmHWM:");
    if (at && sscanf(at + 7, "%" SCNu64, &v) == 1 && v < UINT64_MAX >> 10)
        u->rss = larger(u->rss, v << 10);
    at = strstr(text, "\nnonvoluntary_ctxt_switches:");
    if (at && sscanf(at + 28, "%" SCNu64, &v) == 1)
        u->switches = larger(u->switches, v);
}

/* All threads, where those beside the one do anything. */
static void read_threads(struct process_use *u)
{
    uint64_t all_cpu = 0, all_delay = 0, cpu, delay;
    char name[64], path[SYSFS_PATH];
    const struct dirent *d;
    DIR *list;
    int fd, n = 0;

    if (u->cpu_ns < u->thread_cpu_ns + u->thread_cpu_ns / IDLE_PART
        || sysfs_path(path, "%s/%d/task", u->proc, (int)u->pid) < 0)
        return;
    list = opendir(path);
    while (list && n < THREADS && (d = readdir(list)) != NULL) {
        if (d->d_name[0] < '1' || d->d_name[0] > '9')
            continue;
        (void)snprintf(name, sizeof name, "task/%.16s/schedstat", d->d_name);
        fd = open_file(u, name);
        if (read_times(fd, &cpu, &delay) == 0) {
            all_cpu += cpu;
            all_delay += delay;
        }
        if (fd >= 0)
            (void)close(fd);
        n++;
    }
    if (list)
        (void)closedir(list);
    if (all_cpu > u->thread_cpu_ns)
        u->others_cpu_ns = larger(u->others_cpu_ns, all_cpu - u->thread_cpu_ns);
    if (all_delay > u->thread_delay_ns)
        u->others_delay_ns =
            larger(u->others_delay_ns, all_delay - u->thread_delay_ns);
}

/* --- for others ----------------------------------------------------------- */

int process_use_open(struct process_use *u,
                     const char *proc,
                     pid_t pid,
                     pid_t thread)
{
    char path[SYSFS_PATH], name[64];
    struct stat st;

    *u = (struct process_use){
        .pid = pid, .proc = proc, .thread_fd = -1, .stat_fd = -1};
    if (pid < 2 || thread < 2 || sysfs_path(path, "%s/%d", proc, (int)pid) < 0
        || stat(path, &st) < 0 || st.st_uid != geteuid()) {
        u->pid = 0;
        return -1;
    }
    (void)snprintf(name, sizeof name, "task/%d/schedstat", (int)thread);
    u->thread_fd = open_file(u, name);
    u->stat_fd = open_file(u, "stat");
    if (u->stat_fd >= 0 && process_use_look_whole(u) == 0)
        return 0;
    process_use_close(u);
    return -1;
}

int process_use_look(struct process_use *u)
{
    uint64_t cpu, delay;

    if (u->pid == 0)
        return -1;
    if (read_times(u->thread_fd, &cpu, &delay) < 0)
        return read_stat(u); /* the thread alone, or schedstat is not known */
    u->thread_cpu_ns = larger(u->thread_cpu_ns, cpu);
    u->thread_delay_ns = larger(u->thread_delay_ns, delay);
    u->cpu_ns = larger(u->cpu_ns, u->thread_cpu_ns + u->others_cpu_ns);
    u->delay_ns = larger(u->delay_ns, u->thread_delay_ns + u->others_delay_ns);
    return 0;
}

int process_use_look_whole(struct process_use *u)
{
    if (process_use_look(u) < 0 || read_stat(u) < 0)
        return -1;
    read_status(u);
    read_threads(u);
    return 0;
}

void process_use_cpus(const struct process_use *u, cpu_set_t *set)
{
    cpu_set_t own;

    if (u->pid > 0 && sched_getaffinity(u->pid, sizeof own, &own) == 0)
        CPU_OR(set, set, &own);
}

void process_use_close(struct process_use *u)
{
    if (u->pid > 0 && u->thread_fd >= 0)
        (void)close(u->thread_fd);
    if (u->pid > 0 && u->stat_fd >= 0)
        (void)close(u->stat_fd);
    u->pid = 0;
}
