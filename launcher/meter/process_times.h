/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_times.h - the CPU time of processes that begin and end between two
 * looks at them, each of it counted once.
 *
 * Pure.  Linux adds the time of a process that has ended to what its parent has
 * waited for (getrusage(2), RUSAGE_CHILDREN), unless that ignores SIGCHLD.  What
 * was counted while the process lived is taken off there.
 */
#ifndef LAUNCHER_METER_PROCESS_TIMES_H
#define LAUNCHER_METER_PROCESS_TIMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_OTHER (-1) /* of no task: its time is not counted */

struct process_times {
    pid_t pid, parent;
    uint64_t start;       /* clock ticks since the machine was started */
    int task;             /* its place, or PROCESS_OTHER */
    int looks;            /* at the environment of one that is no task's */
    uint64_t own, waited; /* clock ticks: its, and of those it has waited for */
    /* Counted already, and may still come to waited: of a child that ended
     * after this process was read, and before it was read itself. */
    uint64_t counted;
    uint64_t more; /* since the look before */
};

/*
 * Fill in more and counted of the processes that are there now.  Both arrays are
 * sorted by pid, and now[] was read in the order of start, parents first.
 * O((n + m) log(n + m)).
 */
void process_times_count(struct process_times now[],
                         size_t n,
                         const struct process_times before[],
                         size_t m);

/* The process of that id and start; NULL: there is none.  By pid, as above. */
const struct process_times *process_times_find(const struct process_times at[],
                                               size_t n,
                                               pid_t pid,
                                               uint64_t start);

/* For qsort(3). */
int process_times_by_pid(const void *a, const void *b);
int process_times_by_start(const void *a, const void *b);

#endif
