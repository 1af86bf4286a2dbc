/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost_state.h - what the files of the costs share; for them alone.
 *
 *   cost_memory.c  its life, what it is told, what is known
 *   cost_learn.c   what follows from that
 *   cost_lag.c     whether starts wait longer on some nodes
 *   cost_scaling.c how speeds follow those that were told
 *   cost_change.c  whether nodes, or all, are no longer as they were
 *   cost_fit.c, cost_cpu.c   the sums behind it
 */
#ifndef POLICY_COST_STATE_H
#define POLICY_COST_STATE_H

#include "policy/cost.h"
#include "policy/cost_fit.h"

#include <math.h>

/* How far a speed that was told may be off, and one that was not, as ln(). */
#define TOLD_LOOSE   0.1
#define UNTOLD_LOOSE 0.5

/* What a piece is expected to vary by before anything is known. */
#define NOISE_START 0.05
#define NOISE_LEAST 0.005
#define NOISE_MOST  1

/* The smallest and the largest piece of a node are kept longer than the others,
 * but not longer than this many: pieces of one size do not tell what is a start
 * and what is a unit. */
#define AGE_MOST 64

/* Pieces that the terms are fitted to, about: they are but three. */
#define SAMPLE 1024

#define COST_RIVALS 4

struct cost {
    struct cost_problem problem;
    size_t *order, *first, *group; /* group: one a node */
    struct cost_guess now, trial, best, before;
    struct density *density;
    struct cost_profile expected;
    struct cost_scaling scaling; /* as it was expected */
    double given_mean;           /* of the speeds that were told */
    double begin, units; /* of the first frame; units 0: there was none */
    struct {
        double term[COST_TERMS], misfit;
    } rival[COST_RIVALS];  /* terms by which the pieces may be as well */
    double *scratch, *lag; /* lag: workspace, one a group */
    double *speed;         /* as cost_set_mean() found it, one a node */
    size_t room;
    uint64_t added;
    int is_known, is_fitted;
    double noise_before; /* of runs before */
    double noise;
    double mean; /* of the speeds */
};

static inline double cost_speed_now(const struct cost *c, size_t node)
{
    return cost_node_speed(&c->problem, &c->now, c->group[node], node);
}

/* What a piece would take by the terms, without their scale. */
static inline double cost_predict_now(const struct cost *c,
                                      size_t node,
                                      double work)
{
    return cost_predict(c->now.term, cost_speed_now(c, node), work);
}

/* A piece's error against its work; where little of it is work that is not
 * known. */
static inline double cost_off(const struct cost *c,
                              size_t node,
                              const struct cost_piece *p)
{
    double t = cost_predict_now(c, node, p->work);

    return (p->seconds - t) / fmax(t - c->now.term[COST_WAIT], t / 4);
}

void cost_guess_copy(struct cost_guess *to,
                     const struct cost_guess *from,
                     const struct cost *c);
/* The speeds that are told, and their mean, are of now. */
void cost_set_mean(struct cost *c);
/* A node's pieces from one on are forgotten. */
void cost_drop(struct cost_node *node, size_t from, size_t n);
/* Has any node changed, or all?  What says otherwise is then forgotten, and all
 * is to be fitted anew.  All: with nothing known to start from. */
int cost_nodes_changed(struct cost *c);
int cost_all_changed(struct cost *c);
/* Do starts wait longer or less on some nodes than was thought?  Then it is believed,
 * and all is to be fitted anew.  O(nodes). */
int cost_lags_moved(struct cost *c);
double cost_without_lag(const struct cost_node *n, double seconds);
/* Forget each piece that alone says that its node is slow.  Were there any? */
int cost_drop_doubted(struct cost *c);

#endif
