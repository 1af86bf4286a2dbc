/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance.h - what a policy would do, simulated: frames on nodes of given
 * speeds that are noisy and change, by the same code that sizes real ones.
 *
 * A frame is cut into slices, sent in pieces and with a tail (tail.h), or, by a
 * bundle policy, into bundles, of which a node has one more in hand than it
 * works at.  A node works at one piece at a time, in
 *
 *   start * fastest / speed + units / speed * exp(noise * normal variate)
 *
 * seconds, fastest being the highest speed at first.  Events are simulated in
 * the order of time, so a speed may change within a piece.  Nothing is lost and
 * nobody leaves.
 */
#ifndef POLICY_BALANCE_H
#define POLICY_BALANCE_H

#include "policy/policy.h"
#include "policy/threshold.h"

/* From so many seconds into a frame on, a node has another speed. */
struct balance_change {
    uint64_t frame;
    double seconds;
    size_t node;
    double speed;
};

struct balance_setup {
    size_t n;            /* nodes, >= 1 */
    const double *speed; /* n, units per second, each finite and > 0 */
    const double *prior; /* n, what the qualification found; NULL: all alike */
    const struct balance_change *change; /* by frame, then by seconds */
    size_t n_changes;
    double noise; /* standard deviation, relative, >= 0 */
    double start; /* seconds to start a piece at the fastest node, >= 0 */
    double delay; /* seconds from a result to the next piece's arrival, >= 0 */
    uint64_t units;  /* of every frame, >= 1 */
    uint64_t grain;  /* >= 1 */
    uint64_t pieces; /* a slice is sent in, at most; 1: no tail */
    const struct policy_kind *policy;
    const double *value; /* its parameters */
    struct threshold_rule threshold;
    uint64_t seed;
};

struct balance_frame {
    double first, last; /* response of any node, seconds */
    double efficiency;  /* busy time of all nodes / (nodes x last), 0..1 */
    uint64_t messages;  /* pieces or bundles out, and results back */
    uint64_t taken;     /* units that were taken over */
    int adjusted;       /* the loads changed after it */
};

/* Bytes of a simulation, aligned as by malloc(); 0 if that is too many. */
size_t balance_bytes(const struct balance_setup *setup);

/* Start: 0, or -1 if setup breaks the rules above.  What setup points to stays
 * the caller's and must live as long. */
int balance_init(void *state, const struct balance_setup *setup);

/* One more frame.  O(log n) an event, O(n) a taking over. */
void balance_next(void *state, struct balance_frame *frame);

/* Units that a node did in the last frame. */
uint64_t balance_done(const void *state, size_t node);

#endif
