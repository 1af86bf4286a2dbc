/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a command's speed follows the one that its nodes were told to have: one
 * that waits for memory gains less from a faster CPU than that measures, one
 * that a node's limit cools the caches of loses more by it.
 *
 *   ln(speed) = exponent * ln(told) + a constant
 *
 * by least squares over the nodes that had pieces.  What was believed before
 * counts like the nodes that it takes to be as sure of it.
 */
#include "policy/cost_state.h"

#define EXPONENT_LEAST 0.25
#define EXPONENT_MOST  2.0
#define SURE_START     0.3 /* like nodes whose speeds differ by a factor of two */
#define SURE_AGED      0.75 /* of it after a run */
#define SURE_MOST      100
#define LOOSE_LEAST    0.001
#define LOOSE_MOST     0.2
#define LOOSE_SURE     2 /* nodes that the scatter believed before counts as */

static double within(double x, double least, double most)
{
    return x > least ? fmin(x, most) : least; /* and what is none */
}

struct cost_scaling cost_scaling_of(const struct cost_scaling *s)
{
    return (struct cost_scaling){
        within(s->exponent, EXPONENT_LEAST, EXPONENT_MOST),
        within(s->loose, LOOSE_LEAST, LOOSE_MOST),
        within(s->sure, SURE_START, SURE_MOST)};
}

/* The speed that a node's pieces had, by the terms and the density alone; 0: it
 * had none. */
static double seen(const struct cost *c, const struct cost_node *n)
{
    const double *term = c->now.term;
    double work = 0, seconds = 0;

    for (size_t k = 0; k < n->n; k++) {
        const struct cost_piece *p = &n->piece[k];
        double own = p->seconds - term[COST_WAIT];

        if (!(own > 0))
            continue;
        work += term[COST_BURN] + term[COST_EACH] * p->work;
        seconds += own;
    }
    return seconds > 0 ? work / seconds : 0;
}

/* Sums over the nodes that were told a speed and had pieces. */
struct sums {
    double n, x, y, xx, xy, yy;
};

static struct sums sum(const struct cost *c)
{
    struct sums s = {0};

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *n = &c->problem.node[i];
        double speed = n->given > 0 ? seen(c, n) : 0, x, y;

        if (!(speed > 0))
            continue;
        x = log(n->given / c->given);
        y = log(speed);
        s.n++;
        s.x += x;
        s.y += y;
        s.xx += x * x;
        s.xy += x * y;
        s.yy += y * y;
    }
    return s;
}

struct cost_scaling cost_scaling(const struct cost *c)
{
    const struct cost_scaling *before = &c->scaling;
    struct cost_scaling now = *before;
    struct sums s = sum(c);
    double xx, xy, yy, left;

    if (s.n < 2)
        return now;
    xx = s.xx - s.x * s.x / s.n;
    xy = s.xy - s.x * s.y / s.n;
    yy = s.yy - s.y * s.y / s.n;
    now.exponent = (xy + before->sure * before->exponent) / (xx + before->sure);
    now.sure = SURE_AGED * (xx + before->sure);
    left =
        fmax(yy - 2 * now.exponent * xy + now.exponent * now.exponent * xx, 0);
    now.loose = sqrt((left + LOOSE_SURE * before->loose * before->loose)
                     / (s.n - 1 + LOOSE_SURE));
    return cost_scaling_of(&now);
}
