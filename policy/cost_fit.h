/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost_fit.h - the sums behind cost.h: terms and speeds that explain pieces.
 *
 * Of the pieces k of the nodes i the least
 *
 *   sum weight * rho((seconds - p) / (q * noise)) + what was believed before
 *   p = wait + (burn + each * units) / speed
 *
 * over wait, burn, each >= 0 and all speeds at once, by Gauss and Newton; rho
 * is Huber's, q is p, but within a factor of 2 of the seconds.  A speed is
 * believed * exp(group + own): what a group has in common and what is a node's
 * own each deviate from 0 by a believed amount, and each stands in its own row
 * of the normal equations only; so they are eliminated before the three terms
 * are solved for (the Schur complement), in time proportional to the nodes.
 * So how much the sizes of pieces on different nodes say of the terms depends
 * on how sure their speeds are, as it should.
 *
 * Pure, no allocation.
 */
#ifndef POLICY_COST_FIT_H
#define POLICY_COST_FIT_H

#include "policy/cost.h"
#include "policy/cost_cpu.h"
#include "policy/cost_node.h"

/* A step that moves nothing by more is the last; relative. */
#define COST_AT_REST 1e-4

/* What explains the pieces. */
struct cost_guess {
    double term[COST_TERMS];
    double *group; /* ln(speed) against believed, of all in a group */
    double *own;   /* of one a node, besides */
    double misfit;
};

/* What is to be explained. */
struct cost_problem {
    struct cost_node *node;
    size_t nodes;
    const size_t *order; /* the nodes, those of a group together */
    const size_t *first; /* of a group in that, groups + 1 */
    size_t groups, stride;
    double noise;
    double believed[COST_TERMS]; /* 0: nothing is believed of a term */
    double loose;                /* relative deviation from those */
    struct cost_cpu cpu; /* its wait is believed besides, if it is known */
};

double cost_node_speed(const struct cost_problem *p,
                       const struct cost_guess *g,
                       size_t group,
                       size_t node);
/* What a guess says a piece takes. */
double cost_predict(const double term[COST_TERMS], double speed, double units);
/* Its error against that, in deviations. */
double cost_error(const struct cost_problem *p,
                  const struct cost_piece *k,
                  double predicted);
/* A step towards the best guess with the terms of a mask (1 << column), from
 * the groups 0, stride, ...; is_robust: with Huber's weights.  Returns how far a
 * term or a speed moved at most, relative. */
double cost_step(const struct cost_problem *p,
                 struct cost_guess *g,
                 unsigned mask,
                 int is_robust);
/* The speeds of all groups, each in so many steps at most, with the terms as they
 * are. */
void cost_fit_speeds(const struct cost_problem *p,
                     struct cost_guess *g,
                     int steps);
/* Sets misfit, in units of the noise's square. */
void cost_weigh(const struct cost_problem *p, struct cost_guess *g);

#endif
