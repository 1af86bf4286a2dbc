/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/cost_state.h"

#include <stdlib.h>
#include <string.h>

/* Terms whose misfit is within this of the best may be true as well; 2
 * deviations. */
#define RIVAL_MOST 4

/* How far terms of runs before may be off. */
#define RUNS_LOOSE 0.3
/* And each part of their profile, relative. */
#define PROFILE_LOOSE   0.1
#define DEVIATION_LEAST 0.01

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

void cost_guess_copy(struct cost_guess *to,
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
    c->scratch = calloc(c->room, sizeof *c->scratch);
    c->lag = calloc(n, sizeof *c->lag);
    c->speed = calloc(n, sizeof *c->speed);
    c->density = density_create();
    if (!p->node || !c->order || !c->first || !c->group || !c->scratch
        || !c->lag || !c->speed || !c->density)
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
    cost_expect_speeds(c, c->speed);
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
    free(c->scratch);
    free(c->lag);
    free(c->speed);
    density_destroy(c->density);
    free(c);
}

/* --- what is believed before ---------------------------------------------- */

void cost_set_mean(struct cost *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        sum += c->speed[i] = cost_speed_now(c, i);
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

/* What the told speeds are in ours: one that is fitted keeps its scale, by the nodes
 * whose pieces it was fitted to. */
static double scale_told(const struct cost *c, const double speed[])
{
    double ours = 0, told = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        if (!is_positive(speed[i]) || c->problem.node[i].n == 0)
            continue;
        ours += cost_speed_now(c, i);
        told += speed[i];
    }
    return told > 0 ? ours / told : 1;
}

static void take_told(struct cost *c, const double speed[])
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
            struct cost_node *n = &p->node[i];
            int is_told = is_positive(speed[i]);
            double now = c->is_fitted ? cost_speed_now(c, i) : 0;

            n->told = n->believed = scale * (is_told ? speed[i] : mean);
            n->told_loose = n->loose = is_told ? TOLD_LOOSE : UNTOLD_LOOSE;
            c->now.own[i] = now > 0 && n->n > 0 ? log(now / n->told) : 0;
        }
    }
    memset(c->now.group, 0, p->groups * sizeof *c->now.group);
    cost_set_mean(c);
}

/* What was given, by the scaling. */
static void take_given(struct cost *c)
{
    double exponent = c->scaling.exponent > 0 ? c->scaling.exponent : 1;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        double given = c->problem.node[i].given;

        c->scratch[i] = given > 0 ? pow(given / c->given_mean, exponent) : 0;
    }
    take_told(c, c->scratch);
}

static void give_all(struct cost *c, const double speed[])
{
    for (size_t i = 0; i < c->problem.nodes; i++)
        c->problem.node[i].given = is_positive(speed[i]) ? speed[i] : 0;
    c->given_mean = mean_told(c, speed, c->problem.groups);
}

/* What is told of nodes with pieces may have been learned from these: it is the
 * others that it is told for, in the unit of before. */
static void give_new(struct cost *c, const double speed[])
{
    double before = 0, now = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *n = &c->problem.node[i];

        if (n->n == 0 || !(n->given > 0) || !is_positive(speed[i]))
            continue;
        before += n->given;
        now += speed[i];
    }
    for (size_t i = 0; i < c->problem.nodes && now > 0; i++)
        if (c->problem.node[i].n == 0)
            c->problem.node[i].given =
                is_positive(speed[i]) ? speed[i] * before / now : 0;
}

void cost_expect_speeds(struct cost *c, const double speed[])
{
    if (c->is_fitted && !(c->given_mean > 0)) { /* none was told before */
        take_told(c, speed);
        return;
    }
    if (c->is_fitted)
        give_new(c, speed);
    else
        give_all(c, speed);
    take_given(c);
}

void cost_expect_scaling(struct cost *c, const struct cost_scaling *scaling)
{
    if (c->is_fitted || !cost_scaling_holds(scaling))
        return;
    c->scaling = *scaling;
    take_given(c);
}

void cost_expect_lags(struct cost *c, const double lag[])
{
    for (size_t i = 0; i < c->problem.nodes && !c->is_fitted; i++)
        if (isfinite(lag[i]))
            c->problem.node[i].lag = c->problem.node[i].lag_told = lag[i];
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

/* Is it of such frames, and does it earn its place?  Else it is forgotten. */
static void take_profile(struct cost *c)
{
    struct cost_profile *p = &c->expected;
    double mean;

    if (c->is_fitted || !(c->units > 0) || p->n == 0)
        return;
    if (fabs(p->begin - c->begin) >= 1 || fabs(p->units - c->units) >= 1) {
        p->n = 0;
        return;
    }
    density_forget(c->density, p->n);
    for (size_t i = 0; i < p->n; i++)
        density_see(c->density, &p->seen[i]);
    mean = density_fit(c->density);
    if (density_is_flat(c->density))
        p->n = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->seen[i].mean /= mean;
        p->seen[i].deviation /= mean;
    }
}

void cost_expect_profile(struct cost *c, const struct cost_profile *profile)
{
    if (c->is_fitted)
        return;
    c->expected = *profile;
    for (size_t i = 0; i < profile->n; i++) {
        double own = profile->seen[i].deviation;
        double loose = PROFILE_LOOSE * profile->seen[i].mean;

        c->expected.seen[i].deviation =
            fmax(sqrt(own * own + loose * loose), DEVIATION_LEAST);
    }
    take_profile(c);
}

void cost_begin(struct cost *c, double begin, double units)
{
    if (c->units > 0)
        return;
    c->begin = begin;
    c->units = units;
    take_profile(c);
}

/* --- pieces --------------------------------------------------------------- */

/* Which one gives way: the oldest that is neither the smallest nor the largest,
 * or the oldest if it is too old. */
static size_t one_to_drop(const struct cost_node *node)
{
    size_t smallest = 0, largest = 0, i = 0;

    for (size_t k = 1; k < node->n; k++) {
        if (node->piece[k].part.units < node->piece[smallest].part.units)
            smallest = k;
        if (node->piece[k].part.units >= node->piece[largest].part.units)
            largest = k;
    }
    if (node->added - node->piece[0].own > AGE_MOST)
        return 0;
    while (i == smallest || i == largest)
        i++;
    return i;
}

void cost_drop(struct cost_node *node, size_t from, size_t n)
{
    node->n -= n;
    memmove(&node->piece[from], &node->piece[from + n],
            (node->n - from) * sizeof node->piece[0]);
}

double cost_work(const struct cost *c, const struct cost_part *part)
{
    double wide = part->end - part->begin;

    if (!(wide > 0))
        return part->units;
    return part->units / wide
           * (density_before(c->density, part->end)
              - density_before(c->density, part->begin));
}

double cost_work_deviation(const struct cost *c, const struct cost_part *part)
{
    return part->end > part->begin
               ? density_deviation(c->density, part->begin, part->end)
               : 0;
}

static int is_part(const struct cost_part *p)
{
    return is_positive(p->units) && p->begin >= 0 && p->end >= p->begin
           && p->end <= 1;
}

static double alone(const struct cost *c,
                    size_t node,
                    const struct cost_piece *p)
{
    return cost_cpu_alone(&c->problem.cpu, &c->problem.node[node], p);
}

double cost_alone(const struct cost *c, size_t node, const struct cost_run *run)
{
    const struct cost_node *n = &c->problem.node[node];
    struct cost_piece p = {.ran = run->seconds, .run = *run};

    p.run.seconds = cost_without_lag(n, p.ran);
    return alone(c, node, &p) + p.ran - p.run.seconds;
}

void cost_add(struct cost *c,
              size_t node,
              const struct cost_part *part,
              const struct cost_run *run)
{
    struct cost_node *n = &c->problem.node[node];
    struct cost_piece p = {
        .part = *part, .ran = run->seconds, .run = *run, .weight = 1};

    if (!is_part(part) || !is_positive(run->seconds))
        return;
    if (n->n == COST_PIECES)
        cost_drop(n, one_to_drop(n), 1);
    p.run.cpu = is_positive(run->cpu) ? run->cpu : 0;
    p.run.seconds = cost_without_lag(n, p.ran);
    p.seconds = alone(c, node, &p);
    p.work = cost_work(c, part);
    p.expected = c->is_known ? cost_predict_now(c, node, p.work) : 0;
    p.own = n->added++;
    p.all = c->added++;
    n->is_trusted = n->is_doubted = 0;
    n->piece[n->n++] = p;
}

/* --- what is known -------------------------------------------------------- */

double cost_largest(const struct cost *c, size_t node)
{
    const struct cost_node *n = &c->problem.node[node];
    double most = 0;

    for (size_t k = 0; k < n->n; k++)
        most = fmax(most, n->piece[k].work);
    return most;
}

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
    return c->speed[node] / c->mean;
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

    if (n->told_loose < UNTOLD_LOOSE)
        return c->noise;
    for (size_t k = 0; k < n->n; k++)
        pieces += n->piece[k].weight;
    return sqrt(noise + 1 / (1 / (n->loose * n->loose) + pieces / noise));
}

/* Has it, or one of its group, shown its speed? */
static int is_seen(const struct cost *c, size_t node)
{
    const struct cost_problem *p = &c->problem;
    size_t g = c->group[node];

    for (size_t j = p->first[g]; j < p->first[g + 1]; j++)
        if (p->node[p->order[j]].n > 0)
            return 1;
    return 0;
}

double cost_spread_unseen(const struct cost *c, size_t node)
{
    const struct cost_node *n = &c->problem.node[node];
    double loose = c->scaling.exponent > 0 ? c->scaling.loose : n->told_loose;

    return n->told_loose < UNTOLD_LOOSE && !is_seen(c, node)
               ? sqrt(c->noise * c->noise + loose * loose)
               : cost_spread(c, node);
}

double cost_lag(const struct cost *c, size_t node)
{
    return fmax(c->problem.node[node].lag, -c->now.term[COST_WAIT]);
}

double cost_seconds(const struct cost *c, size_t node, double units)
{
    return cost_lag(c, node) + cost_predict(c->now.term, c->speed[node], units);
}

double cost_start_most(const struct cost *c, size_t node)
{
    double speed = c->speed[node];
    double most = cost_predict(c->now.term, speed, 0);

    for (size_t m = 0; c->is_fitted && m < COST_RIVALS; m++)
        if (c->rival[m].misfit < RIVAL_MOST)
            most = fmax(most, cost_predict(c->rival[m].term, speed, 0));
    return fmax(most + c->problem.node[node].lag, 0);
}

void cost_split(const struct cost *c, const double speed[], double part[])
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        n += speed[i] > 0;
    for (size_t i = 0; i < c->problem.nodes; i++) {
        part[i] = 0;
        if (!(speed[i] > 0))
            continue;
        part[i] = density_before(c->density, (double)(k + 1) / (double)n)
                  - density_before(c->density, (double)k / (double)n);
        k++;
    }
}
