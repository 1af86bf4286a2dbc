/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.h - runs the probes of a node.
 *
 * A probe is one file, probe_<x>.[ch], with one function of type
 * probe_measure_fn for its core element.  Each probe runs in a child process of
 * its own: one that hangs in a driver or on a dead disk can be killed, and one
 * that is killed for its memory harms no other.  The order is:
 *
 *   C  probe_cpu.h      then      M  probe_memory.h      then
 *   S  probe_storage.h  and  G  probe_gpu.h  and  I  probe_link.h  then
 *   B  probe_bus.h    then      W to Z, the site's own  probe_site.h
 *
 * C, M and B have the CPUs for themselves.  S, G and I mostly wait for devices,
 * each for another one, so they run together.  B comes after G because an idle
 * card lowers the speed of its link, and G has woken it.
 */
#ifndef LAUNCHER_PROBE_PROBE_H
#define LAUNCHER_PROBE_PROBE_H

#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

/* Built-in places and budget, all elements; scratch is $TMPDIR or /tmp. */
void probe_setup_init(struct probe_setup *setup);

/*
 * Measure this node.  Every element of the setup gets a result, or the reason
 * why it was not measured, within setup->budget_ms and the time of a few forks;
 * the site's own elements get their budgets, and run at once, after that.
 * If the setup has no topology, and M or B want one, it is loaded first, once
 * for both.  The caller must have one thread, as the children do not call exec.
 * Fails, and leaves result[] untouched, only if the budget is out of range or
 * there is no memory to share with a child.
 */
int probe_node(const struct probe_setup *setup,
               struct probe_result result[ELEMENTS],
               struct es_error *err);

#endif
