/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_memory.h - core element M: the bandwidth of the system memory, by the
 * triad of STREAM over more than the last-level caches, and the memory that our
 * control groups allow.
 */
#ifndef LAUNCHER_PROBE_PROBE_MEMORY_H
#define LAUNCHER_PROBE_PROBE_MEMORY_H

#include "launcher/probe/probe_result.h"

/* GB/s of all CPUs together; capacity_bytes is of the node, or our limit. */
void probe_memory_measure(const struct probe_setup *setup,
                          int budget_ms,
                          struct probe_result *r);

/* Bytes of memory that we may use, known also where the rate is not. */
uint64_t probe_memory_capacity(const struct probe_setup *setup);

#endif
