/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * account.h - how near a frame, or a run, came to the least time that its costs
 * allow, and where the rest went.
 *
 * ideal    the time by which all nodes together could have done it, each with
 *          one command that starts at once, sized so that all end together:
 *          level.h, by the costs (cost.h) and nothing of our own machinery.
 *          Where the commands have taken less than their costs say, the costs
 *          are lowered to that; so an estimate that is too high cannot flatter.
 * efficiency  ideal / time, at most 1.
 * equal    what one command a node with the same number of units each would
 *          have taken, by the same costs: the last node's end.
 *
 * What lies between time and ideal are seconds of the nodes; each node counts
 * by its speed, as a second of a fast one is worth more work.  They add up:
 *
 * restarts  starts of commands beyond a node's first, less what of them was
 *           hidden behind another command's work
 * waiting   a node has nothing: it was done before the others, or not yet told
 * twice     what was lost, has failed, or was done by two
 * wire      a node has something, and no command runs: messages, input, output,
 *           and the agent's own work
 * slower    commands took longer than their costs say: noise, or a node that
 *           became slow
 *
 * A node that got nothing is waiting, less the start that it never made.  Nodes
 * that are so slow to start that ideal does without them do not count; what
 * they did all the same is taken off waiting.
 *
 * One clock for all: a frame's own, or a run's, with all pieces of all its
 * frames.  Then ideal is of all the work and one start a node, as it can be
 * with frames ahead; without, a run is the sum of its frames.
 *
 * Pure but for allocation.
 */
#ifndef POLICY_ACCOUNT_H
#define POLICY_ACCOUNT_H

#include "policy/cost.h"

enum account_part {
    ACCOUNT_RESTARTS,
    ACCOUNT_WAITING,
    ACCOUNT_TWICE,
    ACCOUNT_WIRE,
    ACCOUNT_SLOWER,
    ACCOUNT_PARTS
};

struct account_result { /* seconds */
    double time, ideal, equal;
    double part[ACCOUNT_PARTS]; /* >= 0; their sum is time - ideal */
};

struct account_piece {
    size_t node;
    double units;      /* its work, as in cost_add() */
    double sent, back; /* the time of its answer, or that it was given up */
    double seconds;    /* that its command ran; 0: not known */
    int counts;        /* its units are in the output from here */
};

struct account;

/* nodes >= 1.  NULL if memory ran out. */
struct account *account_create(size_t nodes);
void account_destroy(struct account *a); /* NULL is allowed */
/* From here on it is another frame: nothing is kept. */
void account_clear(struct account *a);
/* A piece that is over; those of a node in the order in which they were sent.
 * O(1). */
void account_add(struct account *a, const struct account_piece *p);
/* What part of the work each node has, if all that take part have the same
 * number of units: n values, which are copied; until this is said, the same. */
void account_split(struct account *a, const double part[]);
/* Seconds that starts wait longer on a node than terms->wait (cost_lag()): n values,
 * which are copied; until this is said, 0. */
void account_lag(struct account *a, const double lag[]);
/*
 * How it stands, at `time` on the pieces' clock.  speed: one a node, as
 * cost_speed() has it; 0: it took no part.  Without any unit ideal and equal are 0;
 * of costs that are not known, ideal is time.  O(nodes).
 */
struct account_result account_close(struct account *a,
                                    const struct cost_terms *terms,
                                    const double speed[],
                                    double time);
/* ideal / time; -1 where nothing was done, or in no time. */
double account_efficiency(const struct account_result *r);
/* Add a frame to a run. */
void account_sum(struct account_result *run,
                 const struct account_result *frame);
/* The name of a part, one word. */
const char *account_name(enum account_part part);

#endif
