/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_memory.h - the memory that the job has on this node, and how often the kernel
 * has killed a process of it for want of some.
 */
#ifndef LAUNCHER_AGENT_JOB_MEMORY_H
#define LAUNCHER_AGENT_JOB_MEMORY_H

#include <stdint.h>

/* Bytes: of the machine, of our control groups, or as Slurm has given it (env: its
 * SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU and SLURM_CPUS_ON_NODE), the least.  proc,
 * sysfs: "/proc" and "/sys". */
uint64_t job_memory(char *const env[], const char *proc, const char *sysfs);
/* Kills for want of memory in our control groups so far; 0: none, or not known
 * (Linux 4.13 counts them). */
uint64_t job_memory_kills(const char *proc, const char *sysfs);

#endif
