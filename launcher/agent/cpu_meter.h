/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu_meter.h - the meter `cpu`: the agent writes for the tasks of a step what
 * libevenstep-mpi writes for programs with MPI, an entry for each rank of the
 * meter page.
 *
 * The CPU time of a task, divided by the CPUs that it has, is useful; the rest
 * of the time since it began is waiting.  There are no regions, and no slot is
 * taken: nothing is steered by it.
 */
#ifndef LAUNCHER_AGENT_CPU_METER_H
#define LAUNCHER_AGENT_CPU_METER_H

#include "launcher/libevenstep/meter_page.h"

struct cpu_meter;
struct event_base;

/* Meter the tasks of step "JOB.STEP" from now on, by /proc.  NULL if memory ran
 * out, or if it is no such step. */
struct cpu_meter *cpu_meter_start(struct event_base *base,
                                  struct meter_page *page,
                                  const char *step);
/* NULL is allowed. */
void cpu_meter_stop(struct cpu_meter *m);

#endif
