/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/cost.h"
#include "policy/cost_fit.h"
#include "policy/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far a speed that was told may be off, and one that was not, as ln(). */
#define TOLD_LOOSE   0.1
#define UNTOLD_LOOSE 0.5

/* How far terms of runs before may be off, and those of the last fit. */
#define RUNS_LOOSE 0.3
#define FIT_LOOSE  1
/* The last fit is believed in once there were so many pieces a node: fits to
 * the first few are guesses. */
#define FIT_PIECES 4
/* After all has changed. */
#define CHANGE_LOOSE 0.7

/* What a piece is expected to vary by before anything is known, as sure as so
 * many pieces would make it. */
#define NOISE_START  0.05
#define NOISE_WEIGHT 4
#define NOISE_LEAST  0.005
#define NOISE_MOST   1
/* A model is no better than that. */
#define NOISE_FLOOR 0.01

/* Of this many pieces a node weighs half as much. */
#define AGE_HALF 8
/* The smallest and the largest piece of a node are kept longer than the others,
 * but not longer than this many: pieces of one size do not tell what is a start
 * and what is a unit. */
#define AGE_MOST 64

/* Pieces that the terms are fitted to, about: they are but three. */
#define SAMPLE 1024
#define STEPS  5

/* Work is at least this part of what pieces take. */
#define EACH_LEAST 0.05

/* Errors of so many deviations, twice in a row at a node or once at most of
 * them, are a change. */
#define CHANGED     4
#define RATIO_MOST  1e6 /* of a speed to what was told */
#define NODES_LEAST 3   /* that can tell that all have changed */
/* What older pieces count for beside one that says a node is slow. */
#define DOUBTED 0.15

struct cost {
    struct cost_problem problem;
    size_t *order, *first, *group; /* group: one a node */
    double *told;                  /* likewise; speed, as it was told */
    struct cost_guess now, trial, best, before;
    double *scratch;
    size_t room;
    uint64_t added;
    int is_known, is_fitted;
    double noise_before; /* of runs before */
    double noise;
    double mean; /* of the speeds */
};

/* --- making one ----------------------------------------------------------- */

/* Groups in the order of their first node, without gaps; its nodes beside each
 * other. */
static int sort_groups(struct cost *c, const size_t group[])
{
    size_t nodes = c->problem.nodes, groups = 0;
    size_t *seen = calloc(nodes, sizeof *seen);

    if (!seen)
        return -1;
    for (size_t i = 0; i < nodes; i++)
        seen[i] = SIZE_MAX;
    for (size_t i = 0; i < nodes; i++) {
        size_t g = group ? group[i] : i;

        if (seen[g] == SIZE_MAX)
            seen[g] = groups++;
        c->group[i] = seen[g];
        c->first[seen[g] + 1]++;
    }
    for (size_t g = 0; g < groups; g++)
        c->first[g + 1] += c->first[g];
    for (size_t g = 0; g < groups; g++)
        seen[g] = c->first[g];
    for (size_t i = 0; i < nodes; i++)
        c->order[seen[c->group[i]]++] = i;
    c->problem.groups = groups;
    free(seen);
    return 0;
}

static int guess_init(struct cost_guess *g, size_t nodes)
{
    g->group = calloc(nodes, sizeof *g->group);
    g->own = calloc(nodes, sizeof *g->own);
    return g->group && g->own ? 0 : -1;
}

static void guess_clear(struct cost_guess *g)
{
    free(g->group);
    free(g->own);
}

static void guess_copy(struct cost_guess *to,
                       const struct cost_guess *from,
                       const struct cost *c)
{
    memcpy(to->term, from->term, sizeof to->term);
    memcpy(to->group, from->group, c->problem.groups * sizeof *to->group);
    memcpy(to->own, from->own, c->problem.nodes * sizeof *to->own);
    to->misfit = from->misfit;
}

static int allocate(struct cost *c, const size_t group[])
{
    struct cost_problem *p = &c->problem;
    size_t n = p->nodes;

    c->room = n > SAMPLE ? n : SAMPLE;
    p->node = calloc(n, sizeof *p->node);
    c->order = calloc(n, sizeof *c->order);
    c->first = calloc(n + 1, sizeof *c->first);
    c->group = calloc(n, sizeof *c->group);
    c->told = calloc(n, sizeof *c->told);
    c->scratch = calloc(c->room, sizeof *c->scratch);
    if (!p->node || !c->order || !c->first || !c->group || !c->told
        || !c->scratch)
        return -1;
    if (guess_init(&c->now, n) < 0 || guess_init(&c->trial, n) < 0
        || guess_init(&c->best, n) < 0 || guess_init(&c->before, n) < 0)
        return -1;
    p->order = c->order;
    p->first = c->first;
    return sort_groups(c, group);
}

struct cost *cost_create(size_t nodes, const size_t group[])
{
    struct cost *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->problem.nodes = nodes;
    c->noise = c->noise_before = NOISE_START;
    if (allocate(c, group) < 0) {
        cost_destroy(c);
        return NULL;
    }
    cost_expect_speeds(c, c->told);
    return c;
}

void cost_destroy(struct cost *c)
{
    if (!c)
        return;
    guess_clear(&c->now);
    guess_clear(&c->trial);
    guess_clear(&c->best);
    guess_clear(&c->before);
    free(c->problem.node);
    free(c->order);
    free(c->first);
    free(c->group);
    free(c->told);
    free(c->scratch);
    free(c);
}

/* --- what is believed before ---------------------------------------------- */

static double speed_of(const struct cost *c, size_t node)
{
    return cost_node_speed(&c->problem, &c->now, c->group[node], node);
}

static void set_mean(struct cost *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        sum += speed_of(c, i);
    c->mean = sum / (double)c->problem.nodes;
}

/* Sums of such are finite, whatever their unit. */
static int is_positive(double x)
{
    return x > 1e-99 && x < 1e99;
}

/* The mean of those that are told, of one group or (groups) of all. */
static double mean_told(const struct cost *c,
                        const double speed[],
                        size_t group)
{
    const size_t *first = c->problem.first;
    int of_all = group == c->problem.groups;
    size_t n = 0, to = of_all ? c->problem.nodes : first[group + 1];
    double sum = 0;

    for (size_t j = of_all ? 0 : first[group]; j < to; j++) {
        double s = speed[c->order[j]];

        n += is_positive(s) ? 1 : 0;
        sum += is_positive(s) ? s : 0;
    }
    return n > 0 ? sum / (double)n : 0;
}

/* What the told speeds are in ours: one that is fitted keeps its scale. */
static double scale_told(const struct cost *c, const double speed[])
{
    double ours = 0, told = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        if (!is_positive(speed[i]))
            continue;
        ours += speed_of(c, i);
        told += speed[i];
    }
    return told > 0 ? ours / told : 1;
}

void cost_expect_speeds(struct cost *c, const double speed[])
{
    const struct cost_problem *p = &c->problem;
    double all = mean_told(c, speed, p->groups);
    double scale = c->is_fitted ? scale_told(c, speed) : all > 0 ? 1 / all : 1;

    for (size_t g = 0; g < p->groups; g++) {
        double mean = mean_told(c, speed, g);

        if (!(mean > 0))
            mean = all > 0 ? all : 1 / scale;
        for (size_t j = p->first[g]; j < p->first[g + 1]; j++) {
            size_t i = p->order[j];
            int is_told = is_positive(speed[i]);
            double now = c->is_fitted ? speed_of(c, i) : 0;

            c->told[i] = scale * (is_told ? speed[i] : mean);
            p->node[i].loose = is_told ? TOLD_LOOSE : UNTOLD_LOOSE;
            p->node[i].believed = c->told[i];
            c->now.own[i] =
                now > 0 && p->node[i].n > 0 ? log(now / c->told[i]) : 0;
        }
    }
    memset(c->now.group, 0, p->groups * sizeof *c->now.group);
    set_mean(c);
}

void cost_expect(struct cost *c, const struct cost_terms *terms, double noise)
{
    double *term = c->now.term;

    if (!is_positive(terms->each) || c->is_fitted)
        return;
    term[COST_WAIT] = is_positive(terms->wait) ? terms->wait : 0;
    term[COST_BURN] = is_positive(terms->burn) ? terms->burn : 0;
    term[COST_EACH] = terms->each; /* the told speeds have a mean of 1 */
    memcpy(c->problem.believed, term, sizeof c->problem.believed);
    c->problem.loose = RUNS_LOOSE;
    if (is_positive(noise))
        c->noise_before = fmin(fmax(noise, NOISE_LEAST), NOISE_MOST);
    c->noise = c->noise_before;
    c->is_known = 1;
}

void cost_forget(struct cost *c, size_t node)
{
    struct cost_node *n = &c->problem.node[node];

    n->n = 0;
    n->believed = c->told[node];
    c->now.own[node] = 0;
    set_mean(c);
}

/* --- pieces --------------------------------------------------------------- */

static double size_of(const struct cost_piece *piece)
{
    return piece->units;
}

/* Which one gives way: the oldest that is neither the smallest nor the largest,
 * or the oldest if it is too old. */
static size_t one_to_drop(const struct cost_node *node)
{
    size_t smallest = 0, largest = 0, i = 0;

    for (size_t k = 1; k < node->n; k++) {
        if (size_of(&node->piece[k]) < size_of(&node->piece[smallest]))
            smallest = k;
        if (size_of(&node->piece[k]) >= size_of(&node->piece[largest]))
            largest = k;
    }
    if (node->added - node->piece[0].own > AGE_MOST)
        return 0;
    while (i == smallest || i == largest)
        i++;
    return i;
}

static void drop(struct cost_node *node, size_t from, size_t n)
{
    node->n -= n;
    memmove(&node->piece[from], &node->piece[from + n],
            (node->n - from) * sizeof node->piece[0]);
}

void cost_add(struct cost *c, size_t node, double units, double seconds)
{
    struct cost_node *n = &c->problem.node[node];

    if (!is_positive(units) || !is_positive(seconds))
        return;
    if (n->n == COST_PIECES)
        drop(n, one_to_drop(n), 1);
    n->is_trusted = 0;
    n->piece[n->n++] = (struct cost_piece){.units = units,
                                           .seconds = seconds,
                                           .weight = 1,
                                           .own = n->added++,
                                           .all = c->added++};
}

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

    for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        guess_copy(&c->trial, &c->now, c);
        for (int i = 0; i < COST_EACH; i++)
            if (!(masks[m] >> i & 1))
                c->trial.term[i] = 0;
        for (int step = 0; step < STEPS; step++)
            cost_step(&c->problem, &c->trial, masks[m], step > 0 || !is_new);
        cost_weigh(&c->problem, &c->trial);
        if (m == 0)
            each = c->trial.term[COST_EACH];
        if (c->trial.term[COST_EACH] < EACH_LEAST * each)
            continue;
        c->trial.misfit += price_of(c, masks[m], pieces);
        if (!(c->trial.misfit < least))
            continue;
        least = c->trial.misfit;
        was = c->best;
        c->best = c->trial;
        c->trial = was;
    }
    if (!(least < (double)INFINITY))
        return;
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

            c->scratch[n++] = p->seconds * speed_of(c, i) / p->units;
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

/* A piece's error against its work; where little of it is work that is not
 * known. */
static double relative_error(const struct cost *c,
                             size_t node,
                             const struct cost_piece *p)
{
    double t = cost_predict(c->now.term, speed_of(c, node), p->units);

    return (p->seconds - t) / fmax(t - c->now.term[COST_WAIT], t / 4);
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
            c->scratch[n++] = fabs(relative_error(c, i, &node->piece[k])
                                   - relative_error(c, i, &node->piece[k - 1]));
    }
    if (n == 0)
        return;
    found = 1.4826 / sqrt(2) * select_median(c->scratch, n);
    found = sqrt((NOISE_WEIGHT * before + (double)n * found * found)
                 / (double)(NOISE_WEIGHT + n));
    c->noise = fmin(fmax(found, NOISE_LEAST), NOISE_MOST);
}

/* --- changes -------------------------------------------------------------- */

/* In deviations; above 0 is slower than the others say. */
static double error_of(const struct cost *c, size_t i, size_t k)
{
    const struct cost_piece *p = &c->problem.node[i].piece[k];

    return cost_error(&c->problem, p,
                      cost_predict(c->now.term, speed_of(c, i), p->units));
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
    drop(n, 0, n->n - keep);
}

/* A node's speed by its last piece, against what it was. */
static double last_ratio(const struct cost *c, size_t i)
{
    const struct cost_node *n = &c->problem.node[i];
    const struct cost_piece *p = &n->piece[n->n - 1];
    double wait = c->now.term[COST_WAIT];
    double work = cost_predict(c->now.term, speed_of(c, i), p->units) - wait;

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
        c->scratch[n++] =
            p->seconds / cost_predict(c->now.term, speed_of(c, i), p->units);
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
        p->node[i].believed = speed_of(c, i);
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

static void fit_once(struct cost *c, int is_new)
{
    weigh_by_age(c);
    c->problem.noise = fmax(c->noise, NOISE_FLOOR);
    fit_terms(c, is_new);
    for (int step = 0; step < (c->problem.stride > 1 ? STEPS : 1); step++)
        cost_step_speeds(&c->problem, &c->now);
    c->is_fitted = 1;
}

void cost_fit(struct cost *c)
{
    if (!set_stride(c))
        return;
    if (!c->is_known)
        start_terms(c);
    c->is_known = 1;
    guess_copy(&c->before, &c->now, c);
    fit_once(c, !c->is_fitted);
    if (all_changed(c))
        fit_once(c, 1);
    else if (nodes_changed(c))
        fit_once(c, 0);
    fit_noise(c);
    set_mean(c);
    if (c->added < FIT_PIECES * c->problem.nodes)
        return;
    memcpy(c->problem.believed, c->now.term, sizeof c->problem.believed);
    c->problem.loose = FIT_LOOSE;
}

/* --- what is known -------------------------------------------------------- */

uint64_t cost_pieces(const struct cost *c)
{
    return c->added;
}

int cost_is_known(const struct cost *c)
{
    return c->is_known;
}

struct cost_terms cost_terms(const struct cost *c)
{
    const double *term = c->now.term;

    return (struct cost_terms){.wait = term[COST_WAIT],
                               .burn = term[COST_BURN] / c->mean,
                               .each = term[COST_EACH] / c->mean};
}

double cost_speed(const struct cost *c, size_t node)
{
    return speed_of(c, node) / c->mean;
}

double cost_noise(const struct cost *c)
{
    return c->noise;
}

/* What was told is trusted: to hedge against a tenth costs each node a start,
 * and seldom pays. */
double cost_spread(const struct cost *c, size_t node)
{
    const struct cost_node *n = &c->problem.node[node];
    double noise = c->noise * c->noise, pieces = 0;

    if (n->loose < UNTOLD_LOOSE)
        return c->noise;
    for (size_t k = 0; k < n->n; k++)
        pieces += n->piece[k].weight;
    return sqrt(noise + 1 / (1 / (n->loose * n->loose) + pieces / noise));
}

double cost_seconds(const struct cost *c, size_t node, double units)
{
    return cost_predict(c->now.term, speed_of(c, node), units);
}
