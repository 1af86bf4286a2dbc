/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_ring.h - core element I, between nodes: who sends to whom in which
 * round, and the rate of a link that follows.  Pure.
 *
 * In each round every node sends to one other and receives from one other, so
 * all links are busy both ways at once: a switch that cannot carry that shows,
 * which pairs one after another would not see.  The next round has another
 * distance around the ring and so other partners.  A slow cable slows its node
 * in all rounds but a partner of it in one round each way; hence
 *
 *   out = the best of what a node sent over the rounds
 *   in  = the best of what it received
 *   value = the lower of the two
 *
 * With three rounds, two slow nodes cannot make a healthy one look slow; of
 * only two nodes it cannot be told whose cable it is, and both have its rate.
 */
#ifndef LAUNCHER_PROBE_PROBE_RING_H
#define LAUNCHER_PROBE_PROBE_RING_H

#include <stdint.h>

#define RING_ROUNDS_MOST 3

/* Number of rounds for n nodes; 0 for a single one. */
unsigned ring_rounds(uint32_t n);

/* The node to which `node` (below n) sends in round (below ring_rounds(n)), and
 * the one from which it receives. */
uint32_t ring_receiver(uint32_t n, uint32_t node, unsigned round);
uint32_t ring_sender(uint32_t n, uint32_t node, unsigned round);

/* What a node measured in one round, bytes a second.  0 or not finite: the
 * partner did not take part. */
struct ring_round {
    double sent_per_s, received_per_s;
};

/*
 * A node's value from its rounds.  *spread is how far the worst round was below
 * the best, in the direction that limits, from 0 to 1.  With a good value and a
 * spread near 1 a partner was slow.  Returns 0, or -1 (results untouched) if a
 * direction was never measured.
 */
int ring_value(const struct ring_round round[],
               unsigned rounds,
               double *bytes_per_s,
               double *spread);

#endif
