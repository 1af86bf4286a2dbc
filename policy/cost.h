/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost.h - what a piece costs, learned from those that have come back:
 *
 *   seconds = wait + lag + (burn + each * work) / speed
 *
 * wait is what a command's start sleeps and reads, the same on every node but for
 * those that lag (cost_lag.c), as their pieces show beyond doubt; burn is the start's own work and each a unit's, both slower on a slow node.  The
 * speeds are relative, with a mean of 1; so burn and each are seconds at a
 * middling node.  The work of a piece is its units by the density of the frame
 * where it lies (density.h), of which the mean unit has 1.
 *
 * Terms and speeds are those that explain the last pieces of all nodes best
 * (cost_fit.h), none below 0, and each speed as near to what it was believed to
 * be as that is sure; a term that does not earn its place is left out, and
 * errors that are far off count for less.  The density is fitted in turn with
 * them.  Where pieces tell their CPU time, that says first what a start waits
 * and how fast nodes are (cost_cpu.h), and what pieces of units that nobody had
 * seen were off by counts as noise.  Else the noise is what successive pieces of
 * a node differ by, of which far ones count for less, too.  A node without a piece
 * has the speed that it was believed to have, or that of the others of its group
 * (the slots of a node).
 *
 * Pure but for allocation in cost_create().
 */
#ifndef POLICY_COST_H
#define POLICY_COST_H

#include "policy/density.h"

#include <stddef.h>
#include <stdint.h>

struct cost_terms {
    double wait; /* seconds, >= 0 */
    double burn; /* seconds at speed 1, >= 0 */
    double each; /* seconds a unit at speed 1, > 0; 0: nothing is known */
};

/* What a piece is of its frame. */
struct cost_part {
    double units;
    double begin, end; /* where in the frame, of 0 to 1; alike: not known, then
                          all units are taken for mean ones */
};

/* How it went. */
struct cost_run {
    double seconds; /* that its command ran */
    double cpu;     /* its seconds of CPU time; 0: not known */
    double beside;  /* seconds of these for which its node had two at work */
};

#define COST_PROFILE 24

/* How dear the units of a frame are, as one run tells it to the next. */
struct cost_profile {
    double begin, units; /* of the frame; units 0: it is not known */
    size_t n;            /* of what its pieces said */
    struct density_seen seen[COST_PROFILE];
};

/* How a command's speed follows the one that is told of nodes: as told^exponent. */
struct cost_scaling {
    double exponent; /* 1: in proportion; 0: it is not known */
    double loose;    /* how far ln(speed) of a node may be from that */
    /* What the exponent was learned from: squares of ln(told) about their mean, summed
     * over nodes and runs, of which the older count less. */
    double sure;
};

struct cost;

/* nodes >= 1.  group: one a node, < nodes: those of one group learn from each
 * other; NULL: each is its own.  NULL if memory ran out. */
struct cost *cost_create(size_t nodes, const size_t group[]);
void cost_destroy(struct cost *c); /* NULL is allowed */

/* What is believed before any piece is back: speeds (one a node, in any one
 * unit, 0: not known) ... */
void cost_expect_speeds(struct cost *c, const double speed[]);
/* ... and the terms and the noise (relative) of the command's runs before. */
void cost_expect(struct cost *c, const struct cost_terms *terms, double noise);
/* ... and what starts waited longer on nodes, one value each ... */
void cost_expect_lags(struct cost *c, const double lag[]);
/* ... and their profile, which counts if the first frame of this run begins with the
 * same unit and has as many. */
void cost_expect_profile(struct cost *c, const struct cost_profile *profile);
/* ... and how its speed followed the one that is told, if that is known. */
void cost_expect_scaling(struct cost *c, const struct cost_scaling *scaling);
/* A frame begins. */
void cost_begin(struct cost *c, double begin, double units);

/* A piece has come back well.  O(1). */
void cost_add(struct cost *c,
              size_t node,
              const struct cost_part *part,
              const struct cost_run *run);
/* What it would have taken if it had run beside no other, as far as its CPU time
 * tells.  O(1). */
double cost_alone(const struct cost *c,
                  size_t node,
                  const struct cost_run *run);
/* The work of a part, of which the frame's mean unit has 1.  O(1). */
double cost_work(const struct cost *c, const struct cost_part *part);
/* How far that may be off, as a standard deviation; relative.  O(1). */
double cost_work_deviation(const struct cost *c, const struct cost_part *part);
/* Learn from what was added.  O(nodes), whatever was added. */
void cost_fit(struct cost *c);
/* The run is over.  That a node is slow by its last piece alone was worth believing
 * while it might have had more; the next run is better off without.  O(nodes). */
void cost_settle(struct cost *c);

/* The work of the largest piece that is remembered of a node; 0: of none.  O(1). */
double cost_largest(const struct cost *c, size_t node);
/* How many it has been told of, in all. */
uint64_t cost_pieces(const struct cost *c);
/* Is anything known: from pieces, or from runs before? */
int cost_is_known(const struct cost *c);
struct cost_terms cost_terms(const struct cost *c);
/* Its units are 0 if all units are alike, as far as is known. */
struct cost_profile cost_profile(const struct cost *c);
/* As it was expected where pieces say nothing of it. */
struct cost_scaling cost_scaling(const struct cost *c);
/* Is it one that can be? */
int cost_scaling_holds(const struct cost_scaling *s);
double cost_speed(const struct cost *c, size_t node);
/* Standard deviation of a piece's seconds, relative. */
double cost_noise(const struct cost *c);
/* The same of a piece that is yet to be sent to a node: the noise, and that
 * nothing is known of its speed, if it was neither told nor seen.  O(1). */
double cost_spread(const struct cost *c, size_t node);
/* The same where a speed that was told is not taken for granted until a piece has
 * shown it.  O(nodes of its group). */
double cost_spread_unseen(const struct cost *c, size_t node);
/* The part of a frame's work that each node has, if those with a speed > 0 have
 * the same number of units, one behind the other; n values each. */
void cost_split(const struct cost *c, const double speed[], double part[]);
/* Seconds that a start waits longer on a node than on the others; below 0: less. */
double cost_lag(const struct cost *c, size_t node);
/* A start on a node, as long as it may well be. */
double cost_start_most(const struct cost *c, size_t node);
/* What a piece would take. */
double cost_seconds(const struct cost *c, size_t node, double units);

#endif
