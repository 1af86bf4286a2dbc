/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_cpu.h - how fast this node computes: core element C.
 *
 * It does arithmetic on every CPU that this process may use.  An affinity mask,
 * a limit of CPU time (probe_rate.h) and threads that share a core lower the
 * result, as they lower the speed of the work.
 */
#ifndef LAUNCHER_PROBE_PROBE_CPU_H
#define LAUNCHER_PROBE_PROBE_CPU_H

#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

#define PROBE_BUDGET_MIN_MS 50
#define PROBE_BUDGET_MAX_MS 5000

/*
 * Compute for budget_ms (50..5000) with one thread on each CPU of our affinity
 * mask, and return the units of work done in a second.  A unit is the same on
 * every machine.  spread and cpus_most, the CPU seconds per second that a limit
 * allows (0: no limit), are as in probe_crew.h.  Blocks; the threads block all
 * signals and have ended when it returns.
 * Fails (results untouched) if there are no threads or no memory for them.
 */
int probe_cpu(int budget_ms,
              double cpus_most,
              double *units_per_s,
              double *spread,
              struct es_error *err);

/* The probe, in Gop/s: operations are integer and floating-point ones.  count
 * is the number of CPUs. */
void probe_cpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
