/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_simulation.h - what steering would do, simulated: nodes that meet at a
 * barrier after every region, by the very step of power.h.
 *
 * A region takes a node
 *
 *   work / ((limit - idle) / (1e6 - idle))^exponent * exp(noise * normal variate)
 *
 * seconds; the barrier falls when the last node is there.  What a node has
 * measured of it goes into the step, as from its agent.  It uses its limit
 * while it works, and waits, too, as ranks that spin do; or idle while it waits.
 * If it is to, steering stops where it does not help, by steering_worth.h.
 */
#ifndef POLICY_POWER_SIMULATION_H
#define POLICY_POWER_SIMULATION_H

#include "policy/power.h"
#include "policy/steering_worth.h"

struct power_simulation_setup {
    size_t n;           /* nodes, >= 1 */
    const double *work; /* n, seconds of a region at a limit of 1e6; > 0 */
    uint64_t limit;     /* of every node at first, floor <= limit <= ceiling */
    uint64_t floor, ceiling; /* of every node */
    uint64_t idle;           /* of a limit, does no work; < floor */
    int sleeps;              /* nodes that wait use idle only */
    const double *io; /* n, seconds of a region at any limit; NULL: none */
    double exponent;  /* of progress in the limit; 1: in proportion */
    double noise;     /* standard deviation, relative, >= 0 */
    struct power_rule rule;
    int stops; /* where it does not help */
    uint64_t seed;
};

struct power_region {
    double seconds; /* until the last is there */
    double waiting; /* of all nodes, as a part of their time; 0..1 */
    double skew;    /* before the step that follows */
    double ideal;   /* seconds / mean work * mean speed; 1: perfect */
    double energy;  /* of all nodes, in seconds of one at a limit of 1e6 */
    size_t changed; /* limits, by that step; the most, if it was several */
    enum worth_order order; /* what was done instead, if it is to stop */
};

/* Bytes of a simulation, aligned as by malloc(); 0 if that is too many. */
size_t power_simulation_bytes(size_t n);
/* Start: 0, or -1 if setup breaks the rules above.  What setup points to stays
 * the caller's and must live as long. */
int power_simulation_init(void *state,
                          const struct power_simulation_setup *setup);
/* One more region, and the step after it.  O(n log n). */
void power_simulation_next(void *state, struct power_region *region);
uint64_t power_simulation_limit(const void *state, size_t node);

#endif
