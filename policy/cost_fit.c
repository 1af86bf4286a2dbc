/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/cost_fit.h"
#include "policy/huber.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SPEED   COST_TERMS /* the column of the speeds */
#define COLUMNS (COST_TERMS + 1)

/* What a group's nodes (slots of a node) differ by, as ln(speed). */
#define OWN_LOOSE 0.05

/* A step changes a speed by no more than this factor, and makes units no
 * cheaper. */
#define STEP_MOST 4

/* Added to a diagonal of 1: terms that cannot be told apart share. */
#define RIDGE 1e-9

double cost_node_speed(const struct cost_problem *p,
                       const struct cost_guess *g,
                       size_t group,
                       size_t node)
{
    return p->node[node].believed * exp(g->group[group] + g->own[node]);
}

double cost_predict(const double term[COST_TERMS], double speed, double units)
{
    return term[COST_WAIT]
           + (term[COST_BURN] + term[COST_EACH] * units) / speed;
}

static double clamp(double x, double low, double high)
{
    x = x > low ? x : low;
    return x < high ? x : high;
}

double cost_error(const struct cost_problem *p,
                  const struct cost_piece *k,
                  double predicted)
{
    double scale = clamp(predicted, k->seconds / 2, 2 * k->seconds);

    return (k->seconds - predicted) / (scale * p->noise);
}

/* --- the normal equations ------------------------------------------------- */

/* Where nothing but speeds is asked for, the rows of the terms are left out. */
struct sums {
    int first; /* row that is added up */
    double m[COLUMNS][COLUMNS], y[COLUMNS];
};

static void sums_begin(struct sums *s, int first)
{
    s->first = first;
    memset(s->m[first], 0, (size_t)(COLUMNS - first) * sizeof s->m[0]);
    memset(s->y, 0, sizeof s->y);
}

static void add_piece(const struct cost_problem *p,
                      const struct cost_guess *g,
                      const struct cost_piece *k,
                      double speed,
                      int is_robust,
                      struct sums *s)
{
    double t = cost_predict(g->term, speed, k->work);
    const double x[COLUMNS] = {1, 1 / speed, k->work / speed,
                               g->term[COST_WAIT] - t};
    double scale = clamp(t, k->seconds / 2, 2 * k->seconds) * p->noise;
    double z = (k->seconds - t) / scale;
    double weight =
        k->weight * (is_robust ? huber_weight(z) : 1) / (scale * scale);

    for (int i = s->first; i < COLUMNS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            s->m[i][j] += weight * x[i] * x[j];
        s->y[i] += weight * x[i] * k->seconds;
    }
}

/* A node's pieces; what is its own is eliminated, to be found by node_move().
 */
static void add_node(const struct cost_problem *p,
                     const struct cost_guess *g,
                     size_t group,
                     size_t i,
                     int is_robust,
                     struct sums *all)
{
    struct cost_node *node = &p->node[i];
    double speed = cost_node_speed(p, g, group, i);
    double hold = huber_weight(g->own[i] / OWN_LOOSE) / (OWN_LOOSE * OWN_LOOSE);
    int is_alone = p->first[group + 1] - p->first[group] == 1;
    struct sums s;

    sums_begin(&s, all->first);
    for (size_t k = 0; k < node->n; k++)
        add_piece(p, g, &node->piece[k], speed,
                  is_robust && !(node->is_trusted && k + 1 == node->n), &s);
    memcpy(node->row, s.m[SPEED], sizeof node->row);
    node->diagonal = s.m[SPEED][SPEED] + hold;
    node->right = s.y[SPEED] - hold * g->own[i];
    for (int a = all->first; a < COLUMNS; a++) {
        double part = is_alone ? 0 : node->row[a] / node->diagonal;

        for (int b = 0; b < COLUMNS; b++)
            all->m[a][b] += s.m[a][b] - part * node->row[b];
        all->y[a] += s.y[a] - part * node->right;
    }
}

/* How far a group may be from what was believed: as its surest node. */
static double group_hold(const struct cost_problem *p,
                         const struct cost_guess *g,
                         size_t group)
{
    double loose = (double)INFINITY;

    for (size_t j = p->first[group]; j < p->first[group + 1]; j++)
        if (p->node[p->order[j]].loose < loose)
            loose = p->node[p->order[j]].loose;
    return huber_weight(g->group[group] / loose) / (loose * loose);
}

static void add_group(const struct cost_problem *p,
                      const struct cost_guess *g,
                      size_t group,
                      int is_robust,
                      struct sums *s)
{
    double hold = group_hold(p, g, group);

    for (size_t j = p->first[group]; j < p->first[group + 1]; j++)
        add_node(p, g, group, p->order[j], is_robust, s);
    s->m[SPEED][SPEED] += hold;
    s->y[SPEED] -= hold * g->group[group];
}

/* --- solving them --------------------------------------------------------- */

static double limited(double move)
{
    return clamp(move, -log(STEP_MOST), log(STEP_MOST));
}

/* The speeds of a group, for terms that are known; returns how far they moved at
 * most. */
static double move_group(const struct cost_problem *p,
                         struct cost_guess *g,
                         size_t group,
                         int is_robust)
{
    size_t from = p->first[group], to = p->first[group + 1];
    struct sums s;
    double move, most;

    sums_begin(&s, SPEED);
    add_group(p, g, group, is_robust, &s);
    move = s.y[SPEED];
    for (int a = 0; a < COST_TERMS; a++)
        move -= s.m[SPEED][a] * g->term[a];
    move = limited(move / s.m[SPEED][SPEED]);
    g->group[group] += move;
    most = fabs(move);
    for (size_t j = from; to - from > 1 && j < to; j++) {
        const struct cost_node *node = &p->node[p->order[j]];
        double own = node->right - node->row[SPEED] * move;

        for (int a = 0; a < COST_TERMS; a++)
            own -= node->row[a] * g->term[a];
        own = limited(own / node->diagonal);
        g->own[p->order[j]] += own;
        most = fmax(most, fabs(own));
    }
    return most;
}

/* Least squares of the terms of a mask, on a diagonal of 1; a term that would
 * be negative is left out. */
static void solve(const struct sums *s, unsigned mask, double term[COST_TERMS])
{
    double m[COST_TERMS][COST_TERMS + 1], unit[COST_TERMS];

    for (int i = 0; i < COST_TERMS; i++) {
        int is_in = mask >> i & 1 && s->m[i][i] > 0;

        unit[i] = is_in ? 1 / sqrt(s->m[i][i]) : 0;
        m[i][COST_TERMS] = s->y[i] * unit[i];
    }
    for (int i = 0; i < COST_TERMS; i++)
        for (int j = 0; j < COST_TERMS; j++)
            m[i][j] = i == j ? 1 + RIDGE : s->m[i][j] * unit[i] * unit[j];
    for (int i = 0; i < COST_TERMS; i++) /* positive definite: no pivoting */
        for (int k = i + 1; k < COST_TERMS; k++) {
            double f = m[k][i] / m[i][i];

            for (int j = i; j <= COST_TERMS; j++)
                m[k][j] -= f * m[i][j];
        }
    for (int i = COST_TERMS - 1; i >= 0; i--) {
        for (int j = i + 1; j < COST_TERMS; j++)
            m[i][COST_TERMS] -= m[i][j] * m[j][COST_TERMS];
        m[i][COST_TERMS] /= m[i][i];
    }
    for (int i = 0; i < COST_TERMS; i++)
        term[i] = m[i][COST_TERMS] * unit[i];
}

/* Without negative ones: they are left out, one after the other; and all, if
 * units would cost nothing. */
static void solve_positive(const struct sums *s,
                           unsigned mask,
                           double term[COST_TERMS])
{
    for (;;) {
        int worst = -1;

        solve(s, mask, term);
        for (int i = 0; i < COST_EACH; i++)
            if (term[i] < 0 && (worst < 0 || term[i] < term[worst]))
                worst = i;
        if (worst < 0 && (term[COST_EACH] > 0 || mask == 1u << COST_EACH))
            return;
        mask &= worst < 0 ? 1u << COST_EACH : ~(1u << worst);
    }
}

/* How far a term may be from what is believed: as the larger of both, so that
 * being wrong by any factor costs no more than 1 / loose deviations. */
static double term_loose(const struct cost_problem *p,
                         const struct cost_guess *g,
                         int i)
{
    return p->loose * fmax(g->term[i], p->believed[i]);
}

static void hold_terms(const struct cost_problem *p,
                       const struct cost_guess *g,
                       struct sums *s)
{
    double off = p->cpu.wait_off;

    if (off > 0) {
        s->m[COST_WAIT][COST_WAIT] += 1 / (off * off);
        s->y[COST_WAIT] += p->cpu.wait / (off * off);
    }
    for (int i = 0; i < COST_TERMS; i++) {
        double loose = term_loose(p, g, i), hold;

        if (!(p->believed[i] > 0))
            continue;
        hold = huber_weight((g->term[i] - p->believed[i]) / loose)
               / (loose * loose);
        s->m[i][i] += hold;
        s->y[i] += hold * p->believed[i];
    }
}

/* What is left for the terms once a group's speed is eliminated. */
static void add_to(struct sums *all, const struct sums *s)
{
    for (int a = 0; a < COST_TERMS; a++) {
        double part = s->m[a][SPEED] / s->m[SPEED][SPEED];

        for (int b = 0; b < COST_TERMS; b++)
            all->m[a][b] += s->m[a][b] - part * s->m[SPEED][b];
        all->y[a] += s->y[a] - part * s->y[SPEED];
    }
}

double cost_step(const struct cost_problem *p,
                 struct cost_guess *g,
                 unsigned mask,
                 int is_robust)
{
    double each = g->term[COST_EACH], term[COST_TERMS], most = 0;
    struct sums all, s;

    sums_begin(&all, 0);
    for (size_t group = 0; group < p->groups; group += p->stride) {
        sums_begin(&s, 0);
        add_group(p, g, group, is_robust, &s);
        add_to(&all, &s);
    }
    hold_terms(p, g, &all);
    solve_positive(&all, mask, term);
    term[COST_EACH] = fmax(term[COST_EACH], each / STEP_MOST);
    for (int i = 0; i < COST_TERMS; i++)
        if (!isfinite(term[i]))
            return 0;
    for (int i = 0; i < COST_TERMS; i++)
        most = fmax(most, fabs(term[i] - g->term[i])
                              / fmax(fmax(term[i], g->term[i]), DBL_MIN));
    memcpy(g->term, term, sizeof term);
    for (size_t group = 0; group < p->groups; group += p->stride)
        most = fmax(most, move_group(p, g, group, is_robust));
    return most;
}

void cost_fit_speeds(const struct cost_problem *p,
                     struct cost_guess *g,
                     int steps)
{
    for (size_t group = 0; group < p->groups; group++)
        for (int step = 0; step < steps; step++)
            if (move_group(p, g, group, 1) < COST_AT_REST)
                break;
}

/* --- how good it is ------------------------------------------------------- */

static double node_misfit(const struct cost_problem *p,
                          const struct cost_guess *g,
                          size_t group,
                          size_t i)
{
    const struct cost_node *node = &p->node[i];
    double speed = cost_node_speed(p, g, group, i);
    double misfit = huber_loss(g->own[i] / OWN_LOOSE);

    for (size_t k = 0; k < node->n; k++) {
        const struct cost_piece *piece = &node->piece[k];
        double t = cost_predict(g->term, speed, piece->work);

        misfit += piece->weight * huber_loss(cost_error(p, piece, t));
    }
    return misfit;
}

void cost_weigh(const struct cost_problem *p, struct cost_guess *g)
{
    double off = p->cpu.wait_off;

    g->misfit = off > 0 ? pow((g->term[COST_WAIT] - p->cpu.wait) / off, 2) : 0;
    for (size_t group = 0; group < p->groups; group += p->stride) {
        double hold = group_hold(p, g, group);

        g->misfit += hold * g->group[group] * g->group[group];
        for (size_t j = p->first[group]; j < p->first[group + 1]; j++)
            g->misfit += node_misfit(p, g, group, p->order[j]);
    }
    for (int i = 0; i < COST_TERMS; i++)
        if (p->believed[i] > 0)
            g->misfit +=
                huber_loss((g->term[i] - p->believed[i]) / term_loose(p, g, i));
}
