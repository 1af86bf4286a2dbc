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
/* What was expected of the noise is as sure as so many pieces would make it. */
#define NOISE_WEIGHT 4
/* Of few differences one piece that hangs is half, so their median is no help: one
 * that is off by more deviations counts as if it were off by these, and normal ones
 * then have this part of their variance (Huber's proposal 2, Robust Estimation of a
 * Location Parameter, Annals of Mathematical Statistics 35, 1964). */
#define NOISE_FAR  1.5
#define NOISE_NEAR 0.7785
/* Enough for a noise that has grown tenfold. */
#define NOISE_STEPS 20
/* A model is no better than that. */
#define NOISE_FLOOR 0.01

/* Of this many pieces a node weighs half as much. */
#define AGE_HALF 8

/* Steps to a guess, at most. */
#define STEPS 5

/* Terms and density in turn, each by the other. */
#define TURNS 3
/* Lags and all else in turn. */
#define LAG_ROUNDS 4
/* A piece that is off by more deviations counts for less of the density. */
#define OFF_MOST 3

/* Work is at least this part of what pieces take. */
#define EACH_LEAST 0.05

/* What older pieces count for beside one that says a node is slow. */
#define DOUBTED 0.15

/* How far what a node does with its CPU time may be off at least; as ln(). */
#define RATE_LOOSE 0.02
/* What a piece was off by when it came counts as so much of a deviation: most of
 * that was learned from it. */
#define SURPRISE 0.3

/* --- age ----------------------------------------------------------------- */

/* What nobody has seen for so long may be as it was told. */
static void drop_old(struct cost *c, struct cost_node *n)
{
    uint64_t most = (uint64_t)AGE_MOST * c->problem.nodes;

    if (n->n == 0 || c->added - n->piece[n->n - 1].all <= most)
        return;
    n->n = 0;
    n->is_trusted = n->is_doubted = 0;
    n->believed = n->told;
    n->loose = n->told_loose;
    n->lag = n->lag_told;
}

/* Age is in pieces of a node, its own or what is one for each of all. */
static void weigh_by_age(struct cost *c)
{
    for (size_t i = 0; i < c->problem.nodes; i++) {
        struct cost_node *n = &c->problem.node[i];

        drop_old(c, n);
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
 * Bayesian information criterion has it; one that was there needs less, and a
 * wait that CPU time tells nothing. */
static double price_of(const struct cost *c, unsigned mask, double pieces)
{
    double price = 0;

    for (int i = 0; i < COST_EACH; i++)
        if (mask >> i & 1 && !(i == COST_WAIT && c->problem.cpu.wait_off > 0))
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
        cost_guess_copy(&c->trial, &c->now, c);
        for (int i = 0; i < COST_EACH; i++)
            if (!(masks[m] >> i & 1))
                c->trial.term[i] = 0;
        for (int step = 0; step < STEPS; step++)
            if (cost_step(&c->problem, &c->trial, masks[m], step > 0 || !is_new)
                    < COST_AT_REST
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

/* What a unit costs if nothing else does. */
static double units_alone(struct cost *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < c->problem.node[i].n && n < c->room; k++) {
            const struct cost_piece *p = &c->problem.node[i].piece[k];

            c->scratch[n++] = p->seconds * cost_speed_now(c, i) / p->work;
        }
    return select_median(c->scratch, n);
}

/* Where to begin: without any idea at nothing but units, and never at units that cost
 * nothing: a belief in that is held so fast that no piece would move it, and a frame
 * that costs its start alone is given whole to one node, which then seems right. */
static void start_terms(struct cost *c)
{
    double *each = &c->now.term[COST_EACH];
    double *believed = &c->problem.believed[COST_EACH];
    double alone = units_alone(c);

    if (!c->is_known)
        *each = alone;
    *each = fmax(*each, EACH_LEAST * alone);
    if (*believed > 0)
        *believed = fmax(*believed, EACH_LEAST * alone);
}

static size_t count_pieces(const struct cost *c)
{
    size_t pieces = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        pieces += c->problem.node[i].n;
    return pieces;
}

static int set_stride(struct cost *c)
{
    size_t pieces = count_pieces(c);

    c->problem.stride = 1 + pieces / SAMPLE;
    return pieces > 0;
}

/* From what successive pieces of a node differ by: so neither its speed nor
 * what drifts slowly is in it.  The variance that each difference shows goes to
 * scratch.  Returns how many. */
static size_t variances_left(struct cost *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *node = &c->problem.node[i];

        for (size_t k = 1; k < node->n && n < c->room; k++) {
            double difference = cost_off(c, i, &node->piece[k])
                                - cost_off(c, i, &node->piece[k - 1]);

            c->scratch[n++] = difference * difference / 2;
        }
    }
    return n;
}

/* Their mean, if none counts that is far above what it is taken for. */
static double variance_left(const struct cost *c, size_t n, double taken_for)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fmin(c->scratch[i], NOISE_FAR * NOISE_FAR * taken_for);
    return n > 0 ? sum / (double)n / NOISE_NEAR : 0;
}

/* From what pieces were off by when they came, where CPU time tells what the node
 * has done: what is left is the units'.  Else one that hangs would look like dear
 * units. */
static double variance_told(const struct cost *c, double *of)
{
    double sum = 0;

    *of = 0;
    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *node = &c->problem.node[i];

        for (size_t k = 0; k < node->n; k++) {
            const struct cost_piece *p = &node->piece[k];
            double off;

            if (!(p->expected > 0) || !cost_cpu_tells(&c->problem.cpu, node, p))
                continue;
            off = log(cost_cpu_seconds(&c->problem.cpu, node, p) / p->expected);
            *of += p->weight;
            sum += p->weight * fmin(off * off, 1);
        }
    }
    return *of > 0 ? SURPRISE * SURPRISE * sum / *of : 0;
}

/* The variance that is what it was taken for.  There is but one: what counts grows
 * with it, and ever less. */
static void fit_noise(struct cost *c)
{
    size_t left = variances_left(c);
    double told_of, told = variance_told(c, &told_of);
    double before = c->noise_before * c->noise_before;
    double n = fmax((double)left, told_of);
    double variance = before, moved = (double)INFINITY;

    for (int i = 0; i < NOISE_STEPS && moved > COST_AT_REST; i++) {
        double found = fmax(variance_left(c, left, variance), told);
        double next = (NOISE_WEIGHT * before + n * found) / (NOISE_WEIGHT + n);

        moved = fabs(next - variance) / variance;
        variance = next;
    }
    c->noise = fmin(fmax(sqrt(variance), NOISE_LEAST), NOISE_MOST);
}

/* --- the density ---------------------------------------------------------- */

/* How far a piece is off by the density as it is, in deviations of the noise. */
static double off_by(const struct cost *c,
                     size_t node,
                     const struct cost_piece *p)
{
    double noise = fmax(c->noise, NOISE_FLOOR) * p->seconds;

    return fabs(p->seconds - cost_predict_now(c, node, p->work)) / noise;
}

/* What a piece says of it, by the terms and speeds as they are. */
static struct density_seen seen_by(const struct cost *c,
                                   size_t node,
                                   const struct cost_piece *p)
{
    double speed = cost_speed_now(c, node), whole = p->part.units;
    double each = c->now.term[COST_EACH] * whole / speed;
    double start = cost_predict_now(c, node, 0);
    double noise = fmax(c->noise, NOISE_FLOOR) * p->seconds;

    noise *= fmax(1, off_by(c, node, p) / OFF_MOST) / sqrt(p->weight);
    return (struct density_seen){.begin = p->part.begin,
                                 .end = p->part.end,
                                 .mean = (p->seconds - start) / each,
                                 .deviation = noise / each};
}

/* By how much more runs before may be off than was thought, as this one's pieces are
 * off: as a rule, as one of a few may be for a reason of its own. */
static double doubt(const struct cost *c)
{
    size_t n = 0;
    double off;

    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < c->problem.node[i].n && n < c->room; k++)
            c->scratch[n++] = off_by(c, i, &c->problem.node[i].piece[k]);
    off = n > 0 ? 1.4826 * select_median(c->scratch, n) : 0;
    return (NOISE_WEIGHT + (double)n * fmax(1, off))
           / (NOISE_WEIGHT + (double)n);
}

/* How far what a run before has seen is off by the density as it is. */
static double now_off(const struct cost *c, const struct density_seen *seen)
{
    double part = density_before(c->density, seen->end)
                  - density_before(c->density, seen->begin);

    return fabs(seen->mean - part / (seen->end - seen->begin));
}

/* It counts for the less the more pieces have come since, the more these are off, and
 * if it is not so now. */
static struct density_seen aged(const struct cost *c,
                                const struct density_seen *before,
                                double doubted)
{
    struct density_seen seen = *before;
    double off = now_off(c, before) / before->deviation;
    double age = (double)c->added / (double)c->problem.nodes / AGE_HALF;

    seen.deviation *= fmax(1, off / OFF_MOST) * sqrt(1 + age) * doubted;
    return seen;
}

/* Tell the density of all pieces, and of runs before. */
static void see_all(struct cost *c, size_t pieces)
{
    const struct cost_node *node = c->problem.node;
    struct density_seen before[COST_PROFILE];
    double doubted = c->expected.n > 0 ? doubt(c) : 1;

    for (size_t i = 0; i < c->expected.n; i++)
        before[i] = aged(c, &c->expected.seen[i], doubted);
    density_forget(c->density, pieces + c->expected.n / 2);
    for (size_t i = 0; i < c->expected.n; i++)
        density_see(c->density, &before[i]);
    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < node[i].n; k++) {
            struct density_seen seen = seen_by(c, i, &node[i].piece[k]);

            density_see(c->density, &seen);
        }
}

/* A density whose mean was off makes all units dearer or cheaper, and nothing
 * else.  If it is flat in spite of runs before, these were other ones: what pieces
 * are off by would be taken for noise, beside which they would look right. */
static void fit_density(struct cost *c)
{
    struct cost_node *node = c->problem.node;
    size_t pieces = count_pieces(c);
    double mean;

    see_all(c, pieces);
    mean = density_fit(c->density);
    if (density_is_flat(c->density) && c->expected.n > 0) {
        c->expected.n = 0;
        see_all(c, pieces);
        mean = density_fit(c->density);
    }
    c->now.term[COST_EACH] *= mean;
    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < node[i].n; k++)
            node[i].piece[k].work = cost_work(c, &node[i].piece[k].part);
}

/* Is it of a frame of as many units as the first one? */
static int is_of_first(const struct cost *c, const struct cost_part *p)
{
    double wide = p->end - p->begin;

    return wide > 0 && fabs(p->units / wide - c->units) < 0.5;
}

/* What runs before have seen goes on if it is so now, too. */
static void pass_on(const struct cost *c, struct cost_profile *to)
{
    double doubted = doubt(c);

    for (size_t i = 0; i < c->expected.n && to->n < COST_PROFILE; i++) {
        const struct density_seen *before = &c->expected.seen[i];

        if (now_off(c, before) <= OFF_MOST * before->deviation)
            to->seen[to->n++] = aged(c, before, doubted);
    }
}

/* Of pieces as many as there is room for, from all over, and then of runs before. */
struct cost_profile cost_profile(const struct cost *c)
{
    const struct cost_node *node = c->problem.node;
    struct cost_profile profile = {.begin = c->begin, .units = c->units};
    size_t pieces = count_pieces(c), at = 0;

    if (density_is_flat(c->density))
        return (struct cost_profile){.units = 0};
    for (size_t i = 0; i < c->problem.nodes; i++)
        for (size_t k = 0; k < node[i].n; k++, at++) {
            struct density_seen *seen = &profile.seen[profile.n];

            if (at * COST_PROFILE < profile.n * pieces
                || !is_of_first(c, &node[i].piece[k].part))
                continue;
            *seen = seen_by(c, i, &node[i].piece[k]);
            seen->mean = fmax(seen->mean, 0);
            profile.n++;
        }
    pass_on(c, &profile);
    return profile;
}

/* --- CPU time ------------------------------------------------------------- */

/* ln() of the speed a node was told to have for each CPU second of a second. */
static double told_a_rate(const struct cost_node *n)
{
    return log(n->told / n->rate);
}

/* Its mean, and how much it varies from node to node beyond what told speeds may
 * be off by: on some a CPU second does more than on others. */
static double compare_told(const struct cost *c, double *vary)
{
    double n = 0, sum = 0, squares = 0, loose = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *node = &c->problem.node[i];

        if (!(node->rate > 0))
            continue;
        n++;
        sum += told_a_rate(node);
        squares += told_a_rate(node) * told_a_rate(node);
        loose += node->told_loose * node->told_loose;
    }
    *vary =
        n > 1 ? fmax((squares - sum * sum / n) / (n - 1) - loose / n, 0) : 0;
    return n > 0 ? sum / n : 0;
}

/* A speed is what was measured of a node's rate, by what is told of its CPUs as
 * far as nodes differ in that. */
static void believe_rate(struct cost *c, size_t i, double mean, double vary)
{
    struct cost_node *n = &c->problem.node[i];
    double told = n->told_loose * n->told_loose, differ = vary / (vary + told);

    n->believed = n->rate * exp(mean + differ * (told_a_rate(n) - mean));
    n->loose = sqrt(RATE_LOOSE * RATE_LOOSE + n->rate_off * n->rate_off
                    + differ * told);
    c->now.own[i] = c->now.group[c->group[i]] = 0;
}

static void fit_cpu(struct cost *c)
{
    struct cost_problem *p = &c->problem;
    double mean, vary;

    p->cpu = cost_cpu_fit(p->node, p->nodes, p->stride, c->scratch, c->room);
    for (size_t i = 0; i < p->nodes; i++)
        for (size_t k = 0; k < p->node[i].n; k++)
            p->node[i].piece[k].seconds =
                cost_cpu_alone(&p->cpu, &p->node[i], &p->node[i].piece[k]);
    mean = compare_told(c, &vary);
    for (size_t i = 0; i < p->nodes; i++)
        if (p->node[i].rate > 0)
            believe_rate(c, i, mean, vary);
}

/* --- all ------------------------------------------------------------------ */

static void fit_once(struct cost *c, int is_new)
{
    weigh_by_age(c);
    fit_cpu(c);
    c->problem.noise = fmax(c->noise, NOISE_FLOOR);
    fit_terms(c, is_new);
    cost_fit_speeds(&c->problem, &c->now, c->problem.stride > 1 ? STEPS : 1);
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
    start_terms(c);
    c->is_known = 1;
    cost_guess_copy(&c->before, &c->now, c);
    fit_all(c, !c->is_fitted);
    if (cost_all_changed(c))
        fit_all(c, 1);
    else if (cost_nodes_changed(c))
        fit_all(c, 0);
    else
        for (int i = 0; i < LAG_ROUNDS && cost_lags_moved(c); i++)
            fit_all(c, 0);
    fit_noise(c);
    cost_set_mean(c);
    if (c->added < FIT_PIECES * c->problem.nodes)
        return;
    memcpy(c->problem.believed, c->now.term, sizeof c->problem.believed);
    c->problem.loose = FIT_LOOSE;
}

void cost_settle(struct cost *c)
{
    if (cost_drop_doubted(c))
        cost_fit(c);
}
