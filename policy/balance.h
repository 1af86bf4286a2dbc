/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance.h - what a policy would do, simulated: frames on nodes of given
 * speeds that are noisy and change, by the same code that does real ones:
 * dispatch.h says who gets what, determination.h how a frame went.
 *
 * A node works at one piece at a time, in
 *
 *   wait + burn * fastest / speed + units / speed * exp(noise * normal variate)
 *
 * seconds, fastest being the highest speed at first.  Events are simulated in
 * the order of time, so a speed may change within a piece.  Nothing is lost and
 * nobody leaves.
 *
 * Or the frames are those of a real run: then its times are taken instead, and
 * each piece is compared with the one that was sent.
 *
 * Pure but for allocation.
 */
#ifndef POLICY_BALANCE_H
#define POLICY_BALANCE_H

#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/shares.h"
#include "policy/threshold.h"

/* From so many seconds into a frame on, a node has another speed. */
struct balance_change {
    uint64_t frame;
    double seconds;
    size_t node;
    double speed;
};

/* A piece of a real frame; times are seconds since its start. */
struct balance_piece {
    size_t node;
    struct slice units;
    double sent, back;
    double seconds; /* that its command ran */
    double cpu;     /* its CPU time; 0: not known */
};

/* A real frame without losses or failures. */
struct balance_record {
    const struct balance_piece *piece; /* n, in the order of sending */
    size_t n;
};

struct balance_setup {
    size_t n;            /* nodes, >= 1 */
    const double *speed; /* n, units per second, each finite and > 0 */
    const double *prior; /* n, what the qualification found; NULL: all alike */
    const struct metric *metric;   /* n, ranked by the profile, instead of */
    const struct profile *profile; /* prior; NULL: by that */
    const struct balance_change *change; /* by frame, then by seconds */
    size_t n_changes;
    const struct balance_record *record; /* one a frame; NULL: none is real */
    int32_t processors; /* of every node, for the policies; 0: not known */
    double noise;       /* standard deviation, relative, >= 0 */
    double wait;        /* seconds to start a piece, at any node, >= 0 */
    const double *lag;  /* n, longer than that, each >= 0; NULL: at none */
    double burn;        /* likewise, at the fastest node, longer at others */
    double delay; /* seconds from a result to the next piece's arrival, >= 0 */
    /* What units cost over the range, relative to the first frame's mean one: of
     * each frame `shapes` values, each for as much of it; the last frame's go
     * on.  0: all alike. */
    const double *shape;
    size_t shapes, shape_frames;
    uint64_t units;  /* of every frame, >= 1 */
    uint64_t grain;  /* >= 1 */
    uint64_t pieces; /* a slice is sent in, at most, or DISPATCH_BY_COST */
    const struct policy_kind *policy;
    const double *value; /* its parameters */
    struct threshold_rule threshold;
    struct cost_terms before; /* of runs before; each: 0: there were none */
    double noise_before;
    const struct cost_scaling *scaling_before; /* likewise; NULL: not known */
    const double *lag_before;                  /* n */
    const struct cost_profile *profile_before;
    uint64_t seed;
};

struct balance_frame {
    double first, last; /* response of any node, seconds */
    double busy;        /* as of determination.h */
    uint64_t messages;  /* pieces or bundles out, and results back */
    uint64_t taken;     /* units that were taken over */
    uint64_t same;      /* pieces as in the record */
    int differs;  /* then one was decided otherwise: the simulation is over */
    int adjusted; /* the loads changed after it */
};

struct balance;

/* NULL if setup breaks the rules above, or memory ran out.  What setup points
 * to stays the caller's and must live as long. */
struct balance *balance_create(const struct balance_setup *setup);
void balance_destroy(struct balance *b);

/* One more frame: 0, or -1 if memory ran out.  O(log n) an event, O(n) a look
 * at the tail. */
int balance_next(struct balance *b, struct balance_frame *frame);

/* Units that a node did in the last frame. */
uint64_t balance_done(const struct balance *b, size_t node);

/* --- for other simulations of a setup -------------------------------------- */

/* Does it keep to the rules above? */
int balance_setup_holds(const struct balance_setup *setup);
/* Start the policy, of as many bytes as it wants, by what is known of the nodes:
 * the first loads.  0, or -1 if memory ran out.  metric, load: n each. */
int balance_start_policy(const struct balance_setup *setup,
                         struct metric metric[],
                         void *policy,
                         double load[]);
/* What runs before have told of the command is believed. */
void balance_expect_costs(struct cost *cost, const struct balance_setup *setup);
/* Seconds that a piece's start waits at a node. */
double balance_wait(const struct balance_setup *setup, size_t node);
/* The units that a piece's start works as long as, at any node. */
double balance_burn(const struct balance_setup *setup);
/* The work of units of a frame, of which the first frame's mean unit has 1. */
double balance_work(const struct balance_setup *setup,
                    uint64_t frame,
                    struct slice units);

#endif
