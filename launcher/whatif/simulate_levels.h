/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulate_levels.h - `evenstep simulate balance --power --levels`: each level
 * alone, and all together.
 */
#ifndef LAUNCHER_WHATIF_SIMULATE_LEVELS_H
#define LAUNCHER_WHATIF_SIMULATE_LEVELS_H

#include "pmix_bcast/error.h"
#include "policy/levels_simulation.h"

/* So many of a limit are a percent of a core. */
#define SIMULATED_PERCENT 10000

struct levels_options {
    unsigned levels; /* bits of simulated_level */
    uint64_t sockets, cores, rack;
    double uneven, budget; /* percent of a core, as a mean of a rack; 0: none */
};

/* "core,node" into the bits of an unsigned; for the table of options. */
int levels_take(void *bits, const char *text, struct es_error *err);

/* Simulate and print so many regions of each; setup has what o has not. */
int simulate_levels(const struct levels_options *o,
                    struct levels_simulation_setup *setup,
                    uint64_t regions,
                    int json,
                    struct es_error *err);

#endif
