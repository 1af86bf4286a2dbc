/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a command's speed follows the one that its nodes were told to have: one
 * that waits for memory gains less from a faster CPU than that measures, one
 * that a node's limit cools the caches of loses more by it.
 *
 *   ln(speed) = exponent * ln(told) + level
 *
 * over the nodes that had pieces.  A node that is far off, as a stranger works
 * beside us there, counts for less (Huber, Robust Estimation of a Location
 * Parameter, Annals of Mathematical Statistics 35, 1964).  What was believed
 * before counts like the nodes that it was learned from.
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
#define FAR            1.345 /* deviations; Huber's for 95 % of the least squares */
#define FAR_LEAST      0.02 /* a deviation, at least: of what noise does */
#define STEPS          20

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

struct line {
    double exponent, level;
};

/* Weighted sums over the nodes that were told a speed and had pieces. */
struct sums {
    double n, weight, x, y, xx, xy, off;
};

static struct sums sum(const struct cost *c, struct line line, double far)
{
    struct sums s = {0};

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *n = &c->problem.node[i];
        double speed = n->given > 0 ? seen(c, n) : 0, x, y, off, w;

        if (!(speed > 0))
            continue;
        x = log(n->given / c->given);
        y = log(speed);
        off = y - line.exponent * x - line.level;
        w = fabs(off) > far ? far / fabs(off) : 1;
        s.n++;
        s.weight += w;
        s.x += w * x;
        s.y += w * y;
        s.xx += w * x * x;
        s.xy += w * x * y;
        s.off += w * off * off;
    }
    return s;
}

/* The line through weighted nodes, with what was believed of its slope. */
static struct line line_of(const struct sums *s,
                           const struct cost_scaling *before)
{
    double xx = s->xx - s->x * s->x / s->weight;
    double xy = s->xy - s->x * s->y / s->weight;
    double exponent =
        (xy + before->sure * before->exponent) / (fmax(xx, 0) + before->sure);

    return (struct line){exponent, (s->y - exponent * s->x) / s->weight};
}

struct cost_scaling cost_scaling(const struct cost *c)
{
    const struct cost_scaling *before = &c->scaling;
    double far = FAR * fmax(before->loose, FAR_LEAST);
    struct line line = {before->exponent, 0};
    struct sums s = sum(c, line, INFINITY);
    struct cost_scaling now;

    if (s.n < 2)
        return *before;
    for (int k = 0; k < STEPS; k++) {
        line = line_of(&s, before);
        s = sum(c, line, far);
    }
    now = (struct cost_scaling){
        .exponent = line.exponent,
        .loose = sqrt((s.off + LOOSE_SURE * before->loose * before->loose)
                      / (s.n - 1 + LOOSE_SURE)),
        .sure =
            SURE_AGED * (fmax(s.xx - s.x * s.x / s.weight, 0) + before->sure)};
    return cost_scaling_of(&now);
}
