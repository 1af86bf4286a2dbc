/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rack.h - which rack a node is in, as far as Slurm's topology tells: the
 * switch that it hangs on.
 */
#ifndef LAUNCHER_BASE_RACK_H
#define LAUNCHER_BASE_RACK_H

#include <stddef.h>

/*
 * address and pattern are SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN
 * of srun(1), as "s0.s4.n7" and "switch.switch.node": the last switch is the
 * rack.  "" if there is none, or if it does not fit.
 */
void rack_find(char *rack,
               size_t size,
               const char *address,
               const char *pattern);

#endif
