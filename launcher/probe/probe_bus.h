/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_bus.h - core element B: the narrowest path of data inside a node.
 *
 * Of these two the lower one, in GB/s one way:
 *  - the link of the narrowest PCIe accelerator, from sysfs;
 *  - copying between the NUMA nodes, all links at once, or where there is but
 *    one, copying in its memory.
 */
#ifndef LAUNCHER_PROBE_PROBE_BUS_H
#define LAUNCHER_PROBE_PROBE_BUS_H

#include "launcher/probe/probe_result.h"

/* The probe; count is the number of CPUs that copied. */
void probe_bus_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
