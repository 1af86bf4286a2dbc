/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rack.h - which rack a node is in: the switch or block that Slurm's topology
 * names for it.
 */
#ifndef LAUNCHER_BASE_RACK_H
#define LAUNCHER_BASE_RACK_H

#include <stddef.h>

/*
 * address and pattern are SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN
 * of srun(1), as "s0.s4.n7" and "switch.switch.node" (topology/tree), or "b1.n7" and
 * "block.node" (topology/block).  The last switch, here "s4", or the block is the rack;
 * rack is "" if there is none, or it needs more than size bytes.
 */
void rack_find(char *rack,
               size_t size,
               const char *address,
               const char *pattern);

#endif
