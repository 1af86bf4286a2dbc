/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.h - runs the probes of a node.
 *
 * A probe is one file, probe_<x>.[ch], with one function of type
 * probe_measure_fn for its core element.  The runner gives each a child
 * process of its own, so that one that hangs in a driver or on a dead disk is
 * ended, and one that is killed for its memory takes nobody along:
 *
 *   C  probe_cpu.h      then      M  probe_memory.h      then
 *   S  probe_storage.h  and  G  probe_gpu.h  and  I  probe_link.h  then
 *   B  probe_bus.h
 *
 * C, M and B each have the CPUs for themselves.  S, G and I wait for devices
 * most of the time and not for the same ones, so they go together.  B comes
 * after G because an idle card rests on a slow link: G has woken it.
 */
#ifndef LAUNCHER_PROBE_PROBE_H
#define LAUNCHER_PROBE_PROBE_H

#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

/* Built-in places and budget, all elements; scratch is $TMPDIR or /tmp. */
void probe_setup_init(struct probe_setup *setup);

/*
 * Measure this node.  Every element asked for ends up measured or not
 * measured with the reason, within setup->budget_ms and the time of a few
 * forks.  Where there is no topology it is loaded first, once for all.  Call it
 * from a process with one thread, as its children go on without exec.  Fails,
 * and leaves result[] untouched, only if the budget is out of range or there is
 * no memory to share with a child.
 */
int probe_node(const struct probe_setup *setup,
               struct probe_result result[ELEMENTS],
               struct es_error *err);

#endif
