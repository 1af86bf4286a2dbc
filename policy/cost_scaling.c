/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a command's speed follows the one that its nodes were told to have: one
 * that waits for memory gains less from a fast CPU than its measured speed
 * suggests, one whose caches go cold while a limit stops it loses more by a slow
 * one.
 *
 *   ln(speed) = exponent * ln(told) + level
 *
 * over the groups of nodes that had pieces: the slots of a node are one.  A node
 * that is far off, as another user's job runs there, counts for less (Huber,
 * Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35,
 * 1964).  What was measured is off itself, which flattens a line: the squares of
 * that are taken off those of ln(told) (Fuller, Measurement Error Models, 1987),
 * so nodes that are alike teach nothing.
 */
#include "policy/cost_state.h"

/* Bounds of what is believed, wider than any command is known to need. */
#define EXPONENT_LEAST 0.25
#define EXPONENT_MOST  2.0
#define LOOSE_LEAST    0.001
#define LOOSE_MOST     0.2
#define SURE_LEAST     0.1
#define SURE_MOST      100

/* What probes vary by, as ln(told); and nodes that differ by no more than a factor,
 * well above METRIC_ALIKE, tell nothing. */
#define MEASURED_OFF 0.03
#define DIFFERENT    1.5
/* Before any run an exponent of 1 counts like two nodes that differ by a factor of
 * 2.2; and what is known counts for so much less after a run. */
#define SURE_START 0.3
#define SURE_AGED  0.75
/* The scatter that is known counts like so many nodes. */
#define LOOSE_SURE 2
/* A node is far off from so many deviations: 95 % as good as least squares where
 * errors are normal.  One of them is as much, at least, as calm pieces vary by. */
#define FAR       1.345
#define FAR_LEAST 0.02
/* Fitting comes to rest after three to ten steps. */
#define STEPS   20
#define AT_REST 1e-4

int cost_scaling_holds(const struct cost_scaling *s)
{
    return s->exponent >= EXPONENT_LEAST && s->exponent <= EXPONENT_MOST
           && s->loose >= LOOSE_LEAST && s->loose <= LOOSE_MOST
           && s->sure >= SURE_LEAST && s->sure <= SURE_MOST;
}

/* What is believed of a command of which nothing is known. */
static struct cost_scaling believed(const struct cost *c)
{
    return c->scaling.exponent > 0
               ? c->scaling
               : (struct cost_scaling){1, TOLD_LOOSE, SURE_START};
}

/* What a group says: the logarithms, and how far its speed may be off. */
struct point {
    double x, y, off;
};

/* 0, or -1 if nothing was told of it, or its pieces do not tell. */
static int point_of(struct point *at, const struct cost *c, size_t group)
{
    const struct cost_problem *p = &c->problem;
    const double *term = c->now.term;
    double told = 0, work = 0, own = 0, seconds = 0, nodes = 0, pieces = 0;

    for (size_t j = p->first[group]; j < p->first[group + 1]; j++) {
        const struct cost_node *n = &p->node[p->order[j]];

        told += n->given;
        nodes += n->given > 0 ? 1 : 0;
        for (size_t k = 0; k < n->n; k++) {
            work += term[COST_BURN] + term[COST_EACH] * n->piece[k].work;
            own += n->piece[k].seconds - term[COST_WAIT];
            seconds += n->piece[k].seconds;
            pieces++;
        }
    }
    if (!(told > 0) || !(own > 0) || !(work > 0))
        return -1;
    /* The noise is of the work, as cost_off() has it. */
    at->off = c->noise * fmax(own, seconds / 4) / own / sqrt(pieces);
    at->x = log(told / nodes / c->given_mean);
    at->y = log(work / own);
    return at->off < 1 ? 0 : -1;
}

struct line {
    double exponent, level;
};

/* Sums over groups, weighed by what each tells: of x, and with y by how far each is
 * off the line, too. */
struct sums {
    double n, told, tx, txx, least, most;
    double weight, x, y, xx, xy, off;
};

static void add_point(struct sums *s,
                      const struct point *at,
                      struct line line,
                      double own)
{
    double off = fabs(at->y - line.exponent * at->x - line.level);
    double variance = own * own + at->off * at->off;
    double tells = own * own / variance, far = FAR * sqrt(variance);
    double w = tells * (off > far ? far / off : 1);

    s->n++;
    s->told += tells;
    s->tx += tells * at->x;
    s->txx += tells * at->x * at->x;
    s->least = fmin(s->least, at->x);
    s->most = fmax(s->most, at->x);
    s->weight += w;
    s->x += w * at->x;
    s->y += w * at->y;
    s->xx += w * at->x * at->x;
    s->xy += w * at->x * at->y;
    s->off += w * off * off;
}

static struct sums sum(const struct cost *c, struct line line, double own)
{
    struct sums s = {.least = INFINITY, .most = -INFINITY};
    struct point at;

    for (size_t g = 0; g < c->problem.groups; g++)
        if (point_of(&at, c, g) == 0)
            add_point(&s, &at, line, own);
    return s;
}

/* Do the nodes differ by more than what was measured may be off? */
static int is_telling(const struct sums *s)
{
    double all = s->n > 1 ? s->txx - s->tx * s->tx / s->told : 0;

    return s->n > 1 && s->most - s->least > log(DIFFERENT)
           && all > 2 * MEASURED_OFF * MEASURED_OFF * s->told;
}

/* The squares of ln(told) about their mean, without those of measuring it. */
static double told_squares(const struct sums *s)
{
    double all = s->xx - s->x * s->x / s->weight;

    return fmax(all - MEASURED_OFF * MEASURED_OFF * s->weight, 0);
}

static struct line line_of(const struct sums *s,
                           const struct cost_scaling *before)
{
    double xx = told_squares(s), xy = s->xy - s->x * s->y / s->weight;
    double exponent =
        (xy + before->sure * before->exponent) / (xx + before->sure);

    return (struct line){exponent, (s->y - exponent * s->x) / s->weight};
}

static double within(double x, double least, double most)
{
    return fmin(fmax(x, least), most);
}

struct cost_scaling cost_scaling(const struct cost *c)
{
    const struct cost_scaling before = believed(c);
    const struct line flat = {before.exponent, 0};
    double own = fmax(before.loose, FAR_LEAST), moved = INFINITY, xx;
    struct sums s = sum(c, flat, own);
    struct line line = flat;

    if (!is_telling(&s))
        return c->scaling;
    for (int k = 0; k < STEPS && moved > AT_REST; k++) {
        struct line next = line_of(&s, &before);

        moved =
            fabs(next.exponent - line.exponent) + fabs(next.level - line.level);
        line = next;
        s = sum(c, line, own);
    }
    xx = told_squares(&s);
    return (struct cost_scaling){
        .exponent = within(line.exponent, EXPONENT_LEAST, EXPONENT_MOST),
        .loose =
            within(sqrt((s.off + LOOSE_SURE * before.loose * before.loose)
                        / (s.n - 1 - xx / (xx + before.sure) + LOOSE_SURE)),
                   LOOSE_LEAST, LOOSE_MOST),
        .sure = within(SURE_AGED * (xx + before.sure), SURE_LEAST, SURE_MOST)};
}
