/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulations.h - what `evenstep simulate` can simulate. argv[0] is the name of
 * the simulation.
 */
#ifndef LAUNCHER_WHATIF_SIMULATIONS_H
#define LAUNCHER_WHATIF_SIMULATIONS_H

struct subcommand;

/* Power steers the power of nodes; there are no frames. */
extern const struct subcommand simulate_bcast, simulate_balance, simulate_power;

#endif
