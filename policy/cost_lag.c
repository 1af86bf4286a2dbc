/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether starts wait longer on some nodes than on others, as a program's files are
 * far away there, or not in memory:
 *
 *   seconds = wait + lag + (burn + each * work) / speed
 *
 * Most nodes have no lag, and what is none of these would explain much that is mere
 * noise.  So a node's own pieces, of unlike sizes, must show it: a line through what
 * they took against what they worked, by Huber's weights, must explain them far
 * better if its start is free than if it is the wait of all.  How steep the line is
 * is held at what is believed of the node's speed.  What a piece worked is its CPU
 * time where that tells (cost_cpu.h), else its units.  The slots of a node, which
 * are a group, have one lag; and the median of all is 0, as the wait is of all.
 *
 * A lag that runs before have told holds until pieces can show it, unless the first
 * ones fit what is believed of the node far better without.
 */
#include "policy/cost_state.h"
#include "policy/huber.h"
#include "policy/select.h"

/* Pieces that can show it; two lie on a line, however the node has changed. */
#define PIECES_LEAST 3
/* What a line must be better by, in deviations squared; and if it was before. */
#define PRICE      10
#define PRICE_KEPT 4
/* Starts vary by so many seconds, and a lag of less is none. */
#define JITTER    0.02
#define LAG_LEAST 0.05
/* A lag that moves by less stays, relative. */
#define AT_REST 0.05
/* To a line by its own weights, at most; and what moves it no more. */
#define STEPS        6
#define LINE_AT_REST 1e-3
/* What is left of a piece without the lag is at least this part of it. */
#define LEFT_LEAST 0.125

/* seconds = start + factor * worked; factor is held at what is believed. */
struct line {
    double start, factor;
    double misfit;
};

struct belief {
    int by_cpu;
    double factor, loose;
};

/* A piece as a point beside the line. */
struct point {
    double worked, seconds, deviation, weight;
};

static struct point point_of(const struct cost *c,
                             const struct belief *b,
                             size_t node,
                             const struct cost_piece *p)
{
    const struct cost_node *n = &c->problem.node[node];
    double noise = b->by_cpu ? c->problem.cpu.noise : c->problem.noise;
    struct point at = {.seconds = p->seconds + (p->ran - p->run.seconds),
                       .weight = p->weight};

    at.worked =
        b->by_cpu ? p->run.cpu / n->rate
                  : cost_predict_now(c, node, p->work) - c->now.term[COST_WAIT];
    at.deviation = noise * fmax(at.worked, at.seconds / 4) + JITTER;
    return at;
}

static double error_of(const struct line *l, const struct point *p)
{
    return (p->seconds - l->start - l->factor * p->worked) / p->deviation;
}

/* --- a group -------------------------------------------------------------- */

typedef void each_fn(void *of, const struct point *p);

static void each_point(const struct cost *c,
                       const struct belief *b,
                       size_t group,
                       each_fn *fn,
                       void *of)
{
    const struct cost_problem *p = &c->problem;

    for (size_t j = p->first[group]; j < p->first[group + 1]; j++) {
        size_t i = p->order[j];

        for (size_t k = 0; k < p->node[i].n; k++) {
            struct point at = point_of(c, b, i, &p->node[i].piece[k]);

            fn(of, &at);
        }
    }
}

/* The normal equations of a line, at the line as it is. */
struct sums {
    const struct line *line;
    double w, wx, wxx, wy, wxy;
};

static void add_point(void *of, const struct point *p)
{
    struct sums *s = of;
    double w = p->weight * huber_weight(error_of(s->line, p))
               / (p->deviation * p->deviation);

    s->w += w;
    s->wx += w * p->worked;
    s->wxx += w * p->worked * p->worked;
    s->wy += w * p->seconds;
    s->wxy += w * p->worked * p->seconds;
}

static void add_misfit(void *of, const struct point *p)
{
    struct line *l = of;

    l->misfit += p->weight * huber_loss(error_of(l, p));
}

/* A step to the best line, of any start if that is_free; says how far it moved at
 * most, against its factor. */
static double step_to(const struct cost *c,
                      const struct belief *b,
                      size_t group,
                      int is_free,
                      struct line *l)
{
    double hold = 1 / (b->loose * b->loose), det;
    struct sums s = {.line = l, .wxx = hold, .wxy = hold * b->factor};
    struct line was = *l;

    each_point(c, b, group, add_point, &s);
    det = s.w * s.wxx - s.wx * s.wx;
    if (is_free && det > 0)
        l->start = fmax((s.wy * s.wxx - s.wx * s.wxy) / det, 0);
    l->factor = fmax((s.wxy - s.wx * l->start) / s.wxx, 0);
    return fmax(fabs(l->factor - was.factor),
                fabs(l->start - was.start) / fmax(l->start, LAG_LEAST));
}

/* Of such a lag, or of any if that is_free. */
static struct line fit_line(const struct cost *c,
                            const struct belief *b,
                            size_t group,
                            double lag,
                            int is_free)
{
    struct line l = {.start = fmax(c->now.term[COST_WAIT] + lag, 0),
                     .factor = 1};

    for (int step = 0; step < STEPS; step++)
        if (step_to(c, b, group, is_free, &l) < LINE_AT_REST)
            break;
    l.misfit = huber_loss((l.factor - b->factor) / b->loose);
    each_point(c, b, group, add_misfit, &l);
    return l;
}

static int cpu_tells(const struct cost *c, size_t group)
{
    const struct cost_problem *p = &c->problem;

    for (size_t j = p->first[group]; j < p->first[group + 1]; j++) {
        const struct cost_node *n = &p->node[p->order[j]];

        for (size_t k = 0; k < n->n; k++)
            if (!cost_cpu_tells(&p->cpu, n, &n->piece[k]))
                return 0;
    }
    return 1;
}

/* Of the group's first node with a piece, for all. */
static struct belief believe(const struct cost *c, size_t group, size_t node)
{
    const struct cost_node *n = &c->problem.node[node];
    struct belief b = {.by_cpu = cpu_tells(c, group)};

    if (b.by_cpu) {
        b.factor = n->rate * c->problem.cpu.slowness / n->told;
        b.loose = fmax(n->told_loose, COST_CPU_ALIKE) * fmax(b.factor, 1);
    } else {
        b.factor = cost_speed_now(c, node) / n->believed;
        b.loose = n->loose * fmax(b.factor, 1);
    }
    return b;
}

/* Before pieces can tell what a lag is: is there none, as it would make the node far
 * faster or slower than is believed?  A cache may be warm since it was learned. */
static int is_refuted(const struct cost *c,
                      const struct belief *b,
                      size_t group,
                      double lag,
                      const struct line *without)
{
    return (lag < 0 || lag > 0)
           && fit_line(c, b, group, lag, 0).misfit - without->misfit
                  > PRICE_KEPT;
}

static double lag_of(const struct cost *c, size_t group)
{
    const struct cost_problem *p = &c->problem;
    size_t pieces = 0, node = p->order[p->first[group]];
    double was = p->node[node].lag,
           price = was < 0 || was > 0 ? PRICE_KEPT : PRICE;
    struct line held, free;
    struct belief b;

    for (size_t j = p->first[group + 1]; j-- > p->first[group];) {
        pieces += p->node[p->order[j]].n;
        if (p->node[p->order[j]].n > 0)
            node = p->order[j];
    }
    if (pieces == 0)
        return was;
    b = believe(c, group, node);
    held = fit_line(c, &b, group, 0, 0);
    if (pieces < PIECES_LEAST)
        return is_refuted(c, &b, group, was, &held) ? 0 : was;
    price += 2 * log((double)p->groups);
    if (held.misfit <= price)
        return 0;
    free = fit_line(c, &b, group, 0, 1);
    return held.misfit - free.misfit > price
               ? free.start - c->now.term[COST_WAIT]
               : 0;
}

/* --- all ------------------------------------------------------------------ */

double cost_without_lag(const struct cost_node *n, double seconds)
{
    return fmax(seconds - n->lag, seconds * LEFT_LEAST);
}

/* From now on, and of the pieces that it has. */
static void cost_set_lag(struct cost_node *n, double lag)
{
    n->lag = lag;
    for (size_t k = 0; k < n->n; k++)
        n->piece[k].run.seconds = cost_without_lag(n, n->piece[k].ran);
}

static double middle_lag(struct cost *c, const double lag[])
{
    for (size_t g = 0; g < c->problem.groups; g++)
        c->scratch[g] = lag[g];
    return select_median(c->scratch, c->problem.groups);
}

int cost_lags_moved(struct cost *c)
{
    const struct cost_problem *p = &c->problem;
    double middle;
    int moved = 0;

    for (size_t g = 0; g < p->groups; g++)
        c->lag[g] = lag_of(c, g);
    middle = middle_lag(c, c->lag);
    for (size_t g = 0; g < p->groups; g++) {
        double lag = c->lag[g] - middle;
        double was = p->node[p->order[p->first[g]]].lag;

        lag = fabs(lag) < LAG_LEAST ? 0 : lag;
        if (!(fabs(lag - was) > AT_REST * fmax(fabs(lag), fabs(was))))
            continue;
        moved = 1;
        for (size_t j = p->first[g]; j < p->first[g + 1]; j++)
            cost_set_lag(&p->node[p->order[j]], lag);
    }
    return moved;
}
