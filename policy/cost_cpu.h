/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost_cpu.h - what the CPU time of pieces tells of starts and of nodes.
 *
 *   seconds = wait + cpu / rate
 *
 * wait is what a command's start sleeps and reads, the same on every node (a node's
 * lag is taken off before); rate is what a node gives a command of its CPUs: below 1
 * where others share them, above 1 where the command has threads.  Neither depends on
 * what units cost.
 * So a few pieces tell both, where wall time alone leaves open whether a piece
 * was slow by its start or by dear units.
 *
 * Weighted least squares, by turns with Huber's weights and the noise.  Rates
 * go with the speeds that were told, times one factor for all, within 20 %
 * (COST_CPU_ALIKE).  wait is at most the shortest piece, and less rather than more: a
 * command that never computes would be all wait otherwise.
 *
 * Pure, no allocation.
 */
#ifndef POLICY_COST_CPU_H
#define POLICY_COST_CPU_H

#include "policy/cost_node.h"

/* How far ln(rate) may be from what the told speed says, at least. */
#define COST_CPU_ALIKE 0.2

struct cost_cpu {
    double wait;     /* seconds */
    double wait_off; /* its standard deviation; 0: no piece has told */
    double slowness; /* 1 / rate is about slowness / told */
    double noise;    /* of a piece's seconds but for its wait, relative */
};

/* Fits wait and noise to the pieces of the nodes 0, stride, ...; then sets rate
 * and rate_off of all.  scratch: room numbers, and the noise is that of no more
 * pieces.  O(nodes). */
struct cost_cpu cost_cpu_fit(struct cost_node *node,
                             size_t nodes,
                             size_t stride,
                             double scratch[],
                             size_t room);

/* Does a piece's CPU time tell anything, and of its node? */
int cost_cpu_tells(const struct cost_cpu *known,
                   const struct cost_node *node,
                   const struct cost_piece *piece);
/* What a piece of this CPU time should have taken.  It tells. */
double cost_cpu_seconds(const struct cost_cpu *known,
                        const struct cost_node *node,
                        const struct cost_piece *piece);
/* What it would have taken if it had run beside no other: no less than what it ran
 * alone for. */
double cost_cpu_alone(const struct cost_cpu *known,
                      const struct cost_node *node,
                      const struct cost_piece *piece);
/* How far it is off that, in deviations; above 0: slower. */
double cost_cpu_error(const struct cost_cpu *known,
                      const struct cost_node *node,
                      const struct cost_piece *piece);

#endif
