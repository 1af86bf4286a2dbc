/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * levels_simulation.h - what steering level by level would do, simulated: the
 * cores of all nodes meet at a barrier after every region, and are steered by
 * the very step of power_levels.h.
 *
 * A core takes seconds for a region as a node does in power_simulation.h.  Its
 * work is its node's, times a factor of its own, of its socket's, its node's
 * and its rack's, each
 *
 *   exp(uneven * normal variate)
 */
#ifndef POLICY_LEVELS_SIMULATION_H
#define POLICY_LEVELS_SIMULATION_H

#include "policy/power_levels.h"

enum simulated_level {
    SIMULATED_CORE,
    SIMULATED_SOCKET,
    SIMULATED_NODE,
    SIMULATED_RACK,
    SIMULATED_LEVELS
};

#define SIMULATED_CORES_MAX (UINT64_C(1) << 24)

struct levels_simulation_setup {
    size_t nodes, sockets, cores; /* sockets of a node, cores of a socket */
    size_t rack;                  /* nodes of a rack; the last may have less */
    const double *work;           /* of each node's cores; > 0 */
    double uneven;                /* >= 0 */
    uint64_t limit; /* of every core at first, floor <= limit <= ceiling */
    uint64_t floor, ceiling; /* of every core */
    uint64_t budget;         /* of a rack; 0: none */
    double exponent, noise;  /* as in power_simulation.h */
    struct power_rule rule;
    uint64_t seed;
    unsigned steered; /* bit k: between members of simulated_level k */
};

struct levels_region {
    double seconds; /* until the last is there */
    double waiting; /* of all cores, as a part of their time; 0..1 */
    double skew;    /* of all cores, as that of a group in power.h */
    double ideal;   /* seconds / mean work * mean speed; 1: perfect */
    uint64_t power; /* sum of all limits */
};

/* "core", ..., "rack". */
const char *simulated_level_name(enum simulated_level level);
/* SIMULATED_LEVELS if there is none of that name. */
enum simulated_level simulated_level_find(const char *name);

/* Bytes of a simulation, aligned as by malloc(); 0 if those are more cores than
 * SIMULATED_CORES_MAX, or none. */
size_t levels_simulation_bytes(const struct levels_simulation_setup *setup);
/*
 * Start: 0, or -1 if setup breaks the rules above.  What setup points to stays
 * the caller's and must live as long.  If the floors of a rack are above its
 * budget, -2.
 */
int levels_simulation_init(void *state,
                           const struct levels_simulation_setup *setup);
/* One more region.  O(n). */
void levels_simulation_region(void *state, struct levels_region *region);
/* The step after it; how many limits it has changed. */
size_t levels_simulation_step(void *state);
/* What rack i may draw now. */
uint64_t levels_simulation_rack(const void *state, size_t i);

#endif
