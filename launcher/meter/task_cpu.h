/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_cpu.h - the CPU time of the tasks of a step on this node, from /proc.
 *
 * A task is all processes that have its SLURM_PROCID in their environment,
 * with the ids of the step: what it has started counts, too.  Processes of
 * other users are not looked at, nor those that hide their environment.
 */
#ifndef LAUNCHER_METER_TASK_CPU_H
#define LAUNCHER_METER_TASK_CPU_H

#include <stddef.h>
#include <stdint.h>

#define TASK_CPU_TASKS 4096 /* of a node; others are left out */

struct task_cpus;

struct task_cpu {
    uint32_t rank, size; /* rank < size */
    uint32_t cpus;       /* that the task has, >= 1 */
    int is_alive;        /* at the last look */
    uint64_t begun_ns;   /* CLOCK_BOOTTIME: when its first process began */
    uint64_t cpu_ns;     /* used by all its processes until now */
};

/* proc is "/proc" but for tests; node is what SLURMD_NODENAME is for a task,
 * as there may be more than one on a machine, or NULL.  NULL if memory ran out.
 */
struct task_cpus *task_cpus_open(const char *proc,
                                 const char *node,
                                 uint32_t job,
                                 uint32_t step);
/* Look at all processes.  O(processes of the machine); the environment of each
 * is read a few times only. */
void task_cpus_look(struct task_cpus *t);
/* The tasks that were ever seen, each at its place for good. */
size_t task_cpus_count(const struct task_cpus *t);
const struct task_cpu *task_cpus_at(const struct task_cpus *t, size_t i);
/* NULL is allowed. */
void task_cpus_close(struct task_cpus *t);

#endif
