/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What follows from the pieces: terms, speeds, noise, and whether anything has
 * changed.
 */
#include "policy/cost_state.h"
#include "policy/select.h"

#include <string.h>

/* How far terms of the last fit may be off. */
#define FIT_LOOSE 1
/* The last fit is believed in once there were so many pieces a node: fits to
 * the first few are guesses. */
#define FIT_PIECES 4
/* After all has changed. */
#define CHANGE_LOOSE 0.7

/* What was expected of the noise is as sure as so many pieces would make it. */
#define NOISE_WEIGHT 4
/* A model is no better than that. */
#define NOISE_FLOOR 0.01

/* Of this many pieces a node weighs half as much. */
#define AGE_HALF 8

/* Steps to a guess, and those that move nothing by more are the last; relative. */
#define STEPS   5
#define AT_REST 1e-4

/* Terms and density in turn, each by the other. */
#define TURNS 3
/* A piece that is off by more deviations counts for less of the density. */
#define OFF_MOST 3

/* Work is at least this part of what pieces take. */
#define EACH_LEAST 0.05

/* Errors of so many deviations, twice in a row at a node or once at most of
 * them, are a change. */
#define CHANGED     4
#define RATIO_MOST  1e6 /* of a speed to what was told */
#define NODES_LEAST 3   /* that can tell that all have changed */
/* What older pieces count for beside one that says a node is slow. */
#define DOUBTED 0.15

static void guess_copy(struct cost_guess *to,
                       const struct cost_guess *from,
                       const struct cost *c)
{
    memcpy(to->term, from->term, sizeof to->term);
    memcpy(to->group, from->group, c->problem.groups * sizeof *to->group);
    memcpy(to->own, from->own, c->problem.nodes * sizeof *to->own);
    to->misfit = from->misfit;
}

/* --- age ----------------------------------------------------------------- */

/* What nobody has seen for so long may be as it was told. */
static void drop_old(struct cost *c, struct cost_node *n, double told)
{
    uint64_t most = (uint64_t)AGE_MOST * c->problem.nodes;

    if (n->n == 0 || c->added - n->piece[n->n - 1].all <= most)
        return;
    n->n = 0;
    n->believed = told;
}

/* Age is in pieces of a node, its own or what is one for each of all. */
static void weigh_by_age(struct cost *c)
{
    for (size_t i = 0; i < c->problem.nodes; i++) {
        struct cost_node *n = &c->problem.node[i];

        drop_old(c, n, c->told[i]);
        for (size_t k = 0; k < n->n; k++) {
            struct cost_piece *p = &n->piece[k];
            double own = (double)(n->added - 1 - p->own);
            double all =
                (double)(c->added - 1 - p->all) / (double)c->problem.nodes;

            p->weight = 1 / (1 + fmax(own, all) / AGE_HALF);
            if (n->is_trusted && k + 1 < n->n)
                p->weight *= DOUBTED;
        }
    }
}

/* --- fitting -------------------------------------------------------------- */

/* The least that a term must improve the fit by, in deviations squared, as the
 * Bayesian information criterion has it; one that was there needs less. */
static double price_of(const struct cost *c, unsigned mask, double pieces)
{
    double price = 0;

    for (int i = 0; i < COST_EACH; i++)
        if (mask >> i & 1)
            price += c->problem.believed[i] > 0 ? 0.5 : fmax(1, log(pieces));
    return price;
}

/* What the pieces of the sample weigh. */
static double sampled(const struct cost *c)
{
    const struct cost_problem *p = &c->problem;
    double sum = 0;

    for (size_t g = 0; g < p->groups; g += p->stride)
        for (size_t j = p->first[g]; j < p->first[g + 1]; j++)
            for (size_t k = 0; k < p->node[p->order[j]].n; k++)
                sum += p->node[p->order[j]].piece[k].weight;
    return sum;
}

/* is_new: what is known so far is no place to start from. */
static void fit_terms(struct cost *c, int is_new)
{
    static const unsigned masks[] = {
        1u << COST_EACH,
        1u << COST_EACH | 1u << COST_WAIT,
        1u << COST_EACH | 1u << COST_BURN,
        1u << COST_EACH | 1u << COST_WAIT | 1u << COST_BURN,
    };
    double pieces = sampled(c), least = (double)INFINITY;
    double each = 0;
    struct cost_guess was;

    for (size_t m = 0; m < COST_RIVALS; m++)
        c->rival[m].misfit = (double)INFINITY;
    for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        guess_copy(&c->trial, &c->now, c);
        for (int i = 0; i < COST_EACH; i++)
            if (!(masks[m] >> i & 1))
                c->trial.term[i] = 0;
        for (int step = 0; step < STEPS; step++)
            if (cost_step(&c->problem, &c->trial, masks[m], step > 0 || !is_new)
                    < AT_REST
                && step > 0)
                break;
        cost_weigh(&c->problem, &c->trial);
        if (m == 0)
            each = c->trial.term[COST_EACH];
        if (c->trial.term[COST_EACH] < EACH_LEAST * each)
            continue;
        c->trial.misfit += price_of(c, masks[m], pieces);
        memcpy(c->rival[m].term, c->trial.term, sizeof c->rival[m].term);
        c->rival[m].misfit = c->trial.misfit;
        if (!(c->trial.misfit < least))
            continue;
        least = c->trial.misfit;
        was = c->best;
        c->best = c->trial;
        c->trial = was;
    }
    if (!(least < (double)INFINITY))
        return;
    for (size_t m = 0; m < COST_RIVALS; m++)
        c->rival[m].misfit -= least;
    was = c->now;
    c->now = c->best;
    c->best = was;
}

/* Without any idea: nothing but units. */
static void start_terms(struct cost *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < c->problem.node[i].n && n < c->room; k++) {
            const struct cost_piece *p = &c->problem.node[i].piece[k];

            c->scratch[n++] = p->seconds * cost_speed_now(c, i) / p->work;
        }
    c->now.term[COST_EACH] = select_median(c->scratch, n);
}

static int set_stride(struct cost *c)
{
    size_t pieces = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        pieces += c->problem.node[i].n;
    c->problem.stride = 1 + pieces / SAMPLE;
    return pieces > 0;
}

/* Of what differs by these. */
static double deviation(double difference[], size_t n)
{
    return 1.4826 / sqrt(2) * select_median(difference, n);
}

/* From what successive pieces of a node differ by: so neither its speed nor
 * what drifts slowly is in it. */
static void fit_noise(struct cost *c)
{
    size_t n = 0;
    double before = c->noise_before * c->noise_before, found;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *node = &c->problem.node[i];

        for (size_t k = 1; k < node->n && n < c->room; k++)
            c->scratch[n++] = fabs(cost_off(c, i, &node->piece[k])
                                   - cost_off(c, i, &node->piece[k - 1]));
    }
    if (n == 0)
        return;
    found = deviation(c->scratch, n);
    found = sqrt((NOISE_WEIGHT * before + (double)n * found * found)
                 / (double)(NOISE_WEIGHT + n));
    c->noise = fmin(fmax(found, NOISE_LEAST), NOISE_MOST);
}

/* --- changes -------------------------------------------------------------- */

/* In deviations; above 0 is slower than the others say. */
static double error_of(const struct cost *c, size_t i, size_t k)
{
    const struct cost_piece *p = &c->problem.node[i].piece[k];

    return cost_error(&c->problem, p, cost_predict_now(c, i, p->work));
}

/* Of a node's last pieces, how many are off by more than `most` in a direction,
 * 1: slower, or -1. */
static size_t last_off(const struct cost *c, size_t i, double sign, double most)
{
    size_t n = c->problem.node[i].n, off = 0;

    while (off < n && sign * error_of(c, i, n - 1 - off) > most)
        off++;
    return off;
}

static void keep_last(struct cost_node *n, size_t keep)
{
    cost_drop(n, 0, n->n - keep);
}

/* A node's speed by its last piece, against what it was. */
static double last_ratio(const struct cost *c, size_t i)
{
    const struct cost_node *n = &c->problem.node[i];
    const struct cost_piece *p = &n->piece[n->n - 1];
    double wait = c->now.term[COST_WAIT];
    double work = cost_predict_now(c, i, p->work) - wait;

    return work / fmax(p->seconds - wait, work / 8);
}

/*
 * A node whose last piece is far too slow may be slow from now on: to believe
 * that in vain costs little, not to believe it much.  So what it did before
 * counts for less.  One whose last two are off has changed.  Says whether any
 * has to be looked at anew.
 */
static int nodes_changed(struct cost *c)
{
    int changed = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        struct cost_node *n = &c->problem.node[i];
        size_t slow = last_off(c, i, 1, CHANGED);
        size_t off = slow > 0 ? slow : last_off(c, i, -1, CHANGED);

        if (off == n->n || (off < 2 && (slow == 0 || n->is_trusted)))
            continue;
        changed = 1;
        n->is_trusted = 1;
        if (off < 2)
            continue;
        n->believed =
            fmin(fmax(n->believed * last_ratio(c, i), c->told[i] / RATIO_MOST),
                 c->told[i] * RATIO_MOST);
        keep_last(n, off);
    }
    return changed;
}

/* How far the last pieces of the nodes are off, as a rule; 0 if that is no
 * more than chance. */
static double all_off(struct cost *c)
{
    double off;
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        if (c->problem.node[i].n > 1)
            c->scratch[n++] = error_of(c, i, c->problem.node[i].n - 1);
    if (n < NODES_LEAST)
        return 0;
    off = select_median(c->scratch, n);
    return fabs(off) > 1 + CHANGED / sqrt((double)n) ? off : 0;
}

/* By what factor the last pieces are off. */
static double factor_off(struct cost *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *node = &c->problem.node[i];
        const struct cost_piece *p;

        if (node->n == 0)
            continue;
        p = &node->piece[node->n - 1];
        c->scratch[n++] = p->seconds / cost_predict_now(c, i, p->work);
    }
    return select_median(c->scratch, n);
}

/* If all has changed, pieces that do not say so are of another time, and the
 * terms have all grown or shrunk alike, as far as is known.  The speeds
 * stay as they were before.
 */
static int all_changed(struct cost *c)
{
    struct cost_problem *p = &c->problem;
    double off = all_off(c), factor;

    if (!(fabs(off) > 0))
        return 0;
    factor = factor_off(c);
    for (size_t i = 0; i < p->nodes; i++)
        keep_last(&p->node[i], last_off(c, i, off < 0 ? -1 : 1, fabs(off) / 2));
    guess_copy(&c->now, &c->before, c);
    for (size_t i = 0; i < p->nodes; i++) {
        p->node[i].believed = cost_speed_now(c, i);
        p->node[i].loose = c->noise;
        p->node[i].is_trusted = 0;
    }
    memset(c->now.group, 0, p->groups * sizeof *c->now.group);
    memset(c->now.own, 0, p->nodes * sizeof *c->now.own);
    for (int i = 0; i < COST_TERMS; i++)
        p->believed[i] = c->now.term[i] *= factor;
    p->loose = CHANGE_LOOSE;
    return 1;
}

/* --- the density ---------------------------------------------------------- */

/* What a piece says of it, by the terms and speeds as they are. */
static void see_piece(struct cost *c, size_t node, const struct cost_piece *p)
{
    double speed = cost_speed_now(c, node), whole = p->part.units;
    double each = c->now.term[COST_EACH] * whole / speed;
    double start = cost_predict_now(c, node, 0);
    double noise = fmax(c->noise, NOISE_FLOOR) * p->seconds;
    double off = fabs(p->seconds - start - each * p->work / whole) / noise;

    noise *= fmax(1, off / OFF_MOST) / sqrt(p->weight);
    density_see(c->density, p->part.begin, p->part.end,
                (p->seconds - start) / each, noise / each);
}

/* A density whose mean was off makes all units dearer or cheaper, and nothing
 * else. */
static void fit_density(struct cost *c)
{
    struct cost_node *node = c->problem.node;
    size_t pieces = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        pieces += node[i].n;
    density_forget(c->density, pieces);
    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < node[i].n; k++)
            see_piece(c, i, &node[i].piece[k]);
    c->now.term[COST_EACH] *= density_fit(c->density);
    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < node[i].n; k++)
            node[i].piece[k].work = cost_work(c, &node[i].piece[k].part);
}

/* --- all ------------------------------------------------------------------ */

static void fit_once(struct cost *c, int is_new)
{
    weigh_by_age(c);
    c->problem.noise = fmax(c->noise, NOISE_FLOOR);
    fit_terms(c, is_new);
    for (int step = 0; step < (c->problem.stride > 1 ? STEPS : 1); step++)
        if (cost_step_speeds(&c->problem, &c->now) < AT_REST)
            break;
    c->is_fitted = 1;
}

/* Terms, speeds and density, each by the others. */
static void fit_all(struct cost *c, int is_new)
{
    fit_once(c, is_new);
    for (int i = 0; i < TURNS; i++) {
        int was_flat = density_is_flat(c->density);

        fit_density(c);
        if (was_flat && density_is_flat(c->density))
            return;
        fit_once(c, 0);
    }
}

void cost_fit(struct cost *c)
{
    if (!set_stride(c))
        return;
    if (!c->is_known)
        start_terms(c);
    c->is_known = 1;
    guess_copy(&c->before, &c->now, c);
    fit_all(c, !c->is_fitted);
    if (all_changed(c))
        fit_all(c, 1);
    else if (nodes_changed(c))
        fit_all(c, 0);
    fit_noise(c);
    cost_set_mean(c);
    if (c->added < FIT_PIECES * c->problem.nodes)
        return;
    memcpy(c->problem.believed, c->now.term, sizeof c->problem.believed);
    c->problem.loose = FIT_LOOSE;
}
