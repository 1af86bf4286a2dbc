/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulations.h - what `evenstep simulate` can simulate, each in a file of its
 * name.  argv[0] is that name; else as a subcommand (commands.h).
 */
#ifndef LAUNCHER_WHATIF_SIMULATIONS_H
#define LAUNCHER_WHATIF_SIMULATIONS_H

#include "pmix_bcast/error.h"

int simulate_bcast(int argc, char **argv, struct es_error *err);
int simulate_balance(int argc, char **argv, struct es_error *err);
/* `balance --power`: power that is steered, and no frames. */
int simulate_power(int argc, char **argv, struct es_error *err);

#endif
