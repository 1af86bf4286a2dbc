/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulations.h - what `evenstep simulate` can simulate. argv[0] is the name of
 * the simulation.
 */
#ifndef LAUNCHER_WHATIF_SIMULATIONS_H
#define LAUNCHER_WHATIF_SIMULATIONS_H

#include "pmix_bcast/error.h"

int simulate_bcast(int argc, char **argv, struct es_error *err);
int simulate_balance(int argc, char **argv, struct es_error *err);
/* `balance --power`: steers the power of nodes; there are no frames. */
int simulate_power(int argc, char **argv, struct es_error *err);

#endif
