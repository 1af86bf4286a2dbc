/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_cpu.h - how fast this node computes: core element C.
 *
 * Sustained arithmetic on every CPU that this process may use, through
 * whatever holds it back: an affinity mask, a CPU bandwidth limit
 * (probe_rate.h), siblings that share a core.
 */
#ifndef LAUNCHER_PROBE_PROBE_CPU_H
#define LAUNCHER_PROBE_PROBE_CPU_H

#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

#define PROBE_BUDGET_MIN_MS 50
#define PROBE_BUDGET_MAX_MS 5000

/*
 * Compute for budget_ms (50..5000) on all CPUs of our affinity mask, a thread
 * a CPU, and say how many units of work were done a second; spread as of
 * probe_crew.h, as is cpus_most: CPUs' worth of time that a limit gives us, 0
 * for none.  What a unit is does not change with the machine.  Blocks; the
 * threads have all signals blocked and are gone when it returns.
 * Fails (results untouched) when a thread or its memory cannot be had.
 */
int probe_cpu(int budget_ms,
              double cpus_most,
              double *units_per_s,
              double *spread,
              struct es_error *err);

/* The same as a probe: Gop/s, where an operation is one of integers or of
 * floating point; count is the CPUs. */
void probe_cpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
