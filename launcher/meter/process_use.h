/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_use.h - what one process has had of its node: CPU time, and how long
 * it has waited for that, for disks, and its memory; from /proc.
 *
 * Files stay open between two looks: a look costs half, and a number that is
 * given to another process is never taken for this one.
 */
#ifndef LAUNCHER_METER_PROCESS_USE_H
#define LAUNCHER_METER_PROCESS_USE_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

/* What is not known is 0.  No number falls. */
struct process_use {
    pid_t pid; /* 0: not open */
    const char *proc;
    int thread_fd, stat_fd;
    uint64_t thread_cpu_ns; /* of the one thread alone */
    uint64_t cpu_ns;        /* of all its threads */
    uint64_t delay_ns;      /* ready to run, without a CPU */
    uint64_t io_wait_ns;    /* for disks, where the kernel counts that */
    uint64_t switches;      /* involuntary */
    uint64_t rss;           /* bytes, the most */
    /* Of the threads beside that one, as of the last look at all of them. */
    uint64_t others_cpu_ns, others_delay_ns;
    uint64_t thread_delay_ns;
};

/* Watch a process of this user, and one thread of it by name.  proc is "/proc"
 * but for tests, and outlives u.  0, or -1: it cannot be seen. */
int process_use_open(struct process_use *u,
                     const char *proc,
                     pid_t pid,
                     pid_t thread);
/* Look at the thread.  0, or -1: the process has ended. */
int process_use_look(struct process_use *u);
/* Look at all of it: some ten times as long. */
int process_use_look_whole(struct process_use *u);
/* The CPUs that it may use are added to set. */
void process_use_cpus(const struct process_use *u, cpu_set_t *set);
/* Of one that is not open, too.  The numbers stay. */
void process_use_close(struct process_use *u);

#endif
