/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame is the interval [0, 1).  The slices of the frame that was measured
 * are rebuilt from the loads that this policy gave; units and seconds enter
 * only as seconds per unit, so that rounding to grains does no harm.
 *
 * Slices and bins both ascend, so each pass walks them side by side: O(n).
 */
#include "policy/even.h"
#include "policy/select.h"

#include <math.h>
#include <string.h>

#define BINS_AT_LEAST 64    /* so that few nodes can learn a peak, too */
#define BINS_PER_NODE 2     /* finer than slices; more did not help */
#define TO_SPEED      0.2   /* of a surprise, even if the slice is all new */
#define SURPRISE_MOST 1e6   /* beyond it is no measurement any more */
#define SPEED_LEAST   1e-9  /* of the sum: a node can always come back */
#define DENSITY_MOST  1e6   /* to the mean, either way */
#define LOAD_LEAST    1e-15 /* of a node that can work: not 0 */

/* Not fmin() and fmax(): those are calls, and NaN is looked after below. */
static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

struct node {
    double speed;      /* relative; adds up to 1; 0 = cannot or has left */
    double load;       /* as published, adds up to 1 */
    double begin, end; /* slice of the frame being looked at */
    double was_begin, was_end; /* slice when last measured */
    double surprise;           /* 0 = not measured in this frame */
    double factor;             /* what the density under the slice becomes */
    uint32_t samples;          /* since the prior or the last jump */
    enum presence presence;
};

struct state {
    size_t n, bins;
    double gain, jump, regain;
    double cell[]; /* bins densities of mean 1, the nodes, n of scratch */
};

static struct node *nodes_of(struct state *s)
{
    return (struct node *)(void *)(s->cell + s->bins);
}

static const struct node *nodes_in(const struct state *s)
{
    return (const struct node *)(const void *)(s->cell + s->bins);
}

static double *scratch_of(struct state *s)
{
    return (double *)(void *)(nodes_of(s) + s->n);
}

static const struct policy_param params[] = {
    {"gain", EVEN_GAIN, 0.01, 1, 0,
     "least part of a measurement that is believed", OUTSIDE_REFUSED},
    {"jump", EVEN_JUMP, 0.01, 100, 0,
     "deviation above which a node has changed its speed", OUTSIDE_REFUSED},
    {"regain", EVEN_REGAIN, 0, 1, 0,
     "growth per frame of a node too slow to get a slice", OUTSIDE_REFUSED},
};

static size_t bins_for(size_t nodes)
{
    return BINS_AT_LEAST + BINS_PER_NODE * nodes;
}

static size_t even_bytes(size_t nodes, const double value[])
{
    (void)value;
    if (nodes > SIZE_MAX / (2 * sizeof(struct node)))
        return 0;
    return sizeof(struct state) + bins_for(nodes) * sizeof(double)
           + nodes * (sizeof(struct node) + sizeof(double));
}

static void scale_speeds(struct node node[], size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += node[i].speed;
    for (size_t i = 0; i < n; i++)
        if (node[i].speed > 0)
            node[i].speed = greater(node[i].speed / sum, SPEED_LEAST);
}

static int even_init(void *state, const struct policy_setup *setup)
{
    struct state *s = state;
    struct node *node;

    if (!policy_setup_holds(&even_kind, setup))
        return -1;
    s->n = setup->n;
    s->bins = bins_for(setup->n);
    s->gain = setup->value[0];
    s->jump = setup->value[1];
    s->regain = setup->value[2];
    for (size_t b = 0; b < s->bins; b++)
        s->cell[b] = 1;
    node = nodes_of(s);
    memset(node, 0, s->n * sizeof *node);
    for (size_t i = 0; i < s->n; i++)
        node[i].speed = setup->metric[i].JL;
    scale_speeds(node, s->n);
    for (size_t i = 0; i < s->n; i++)
        node[i].load = node[i].speed;
    return 0;
}

static void even_loads(const void *state, double load[])
{
    const struct state *s = state;

    for (size_t i = 0; i < s->n; i++)
        load[i] = 100 * nodes_in(s)[i].load;
}

/* --- what was measured ---------------------------------------------------- */

static void place_slices(struct node node[],
                         const struct completion c[],
                         size_t n)
{
    double at = 0;

    for (size_t i = 0; i < n; i++) {
        node[i].begin = at;
        at += node[i].load;
        node[i].end = lesser(at, 1);
        if (c[i].end > c[i].begin) {
            node[i].begin = c[i].begin;
            node[i].end = c[i].end;
        }
    }
}

/* The bin that x lies in, at or after bin b. */
static size_t bin_at(const struct state *s, size_t b, double x)
{
    while (b + 1 < s->bins && (double)(b + 1) <= x * (double)s->bins)
        b++;
    return b;
}

/* Mean density over [begin, end); *b is begin's bin, then end's. */
static double mean_density(const struct state *s,
                           double begin,
                           double end,
                           size_t *b)
{
    double width = 1 / (double)s->bins, sum = 0;

    for (*b = bin_at(s, *b, begin);; ++*b) {
        double lo = greater(begin, (double)*b * width);
        double hi = lesser(end, (double)(*b + 1) * width);

        sum += s->cell[*b] * greater(hi - lo, 0);
        if (*b + 1 == s->bins || (double)(*b + 1) * width >= end)
            break;
    }
    return sum > 0 ? sum / (end - begin) : s->cell[*b];
}

static int is_measurement(const struct node *node, const struct completion *c)
{
    return node->presence == PRESENCE_PRESENT && node->speed > 0
           && node->end > node->begin && c->units > 0 && isfinite(c->seconds)
           && c->seconds > 0;
}

/* Fill in every node's surprise; returns how many were measured. */
static size_t find_surprises(struct state *s,
                             struct node node[],
                             const struct completion c[])
{
    double *scratch = scratch_of(s), middle;
    size_t b = 0, m = 0;

    for (size_t i = 0; i < s->n; i++) {
        double density;

        node[i].surprise = 0;
        if (!is_measurement(&node[i], &c[i]))
            continue;
        density = mean_density(s, node[i].begin, node[i].end, &b);
        node[i].surprise =
            c[i].seconds / (double)c[i].units * node[i].speed / density;
        scratch[m++] = node[i].surprise;
    }
    if (m == 0)
        return 0;
    middle = select_median(scratch, m);
    for (size_t i = 0; i < s->n; i++)
        if (node[i].surprise > 0)
            node[i].surprise =
                lesser(greater(node[i].surprise / middle, 1 / SURPRISE_MOST),
                       SURPRISE_MOST);
    return m;
}

/* --- what is learned from it ---------------------------------------------- */

/* How much of a surprise is believed. */
static double gain_of(const struct state *s, struct node *node)
{
    double r = node->surprise;

    if (node->samples == 0 || greater(r, 1 / r) > 1 + s->jump)
        node->samples = 1;
    else if (node->samples < UINT32_MAX)
        node->samples++;
    return greater(s->gain, 1 / (double)node->samples);
}

/* How much of what is believed is the node's, not the place's. */
static double part_of_speed(const struct node *node)
{
    double both = lesser(node->end, node->was_end)
                  - greater(node->begin, node->was_begin);
    double hull = greater(node->end, node->was_end)
                  - lesser(node->begin, node->was_begin);
    double same = greater(both, 0) / hull;

    return TO_SPEED + (1 - TO_SPEED) * same * same;
}

static void learn_speed(const struct state *s, struct node *node)
{
    int first = node->samples == 0;
    double slower, slower_node;

    node->factor = 1;
    if (!(node->surprise > 0))
        return;
    slower = 1 + gain_of(s, node) * (node->surprise - 1);
    slower_node = 1 + (first ? 1 : part_of_speed(node)) * (slower - 1);
    node->speed /= slower_node;
    node->factor = slower / slower_node;
    node->was_begin = node->begin;
    node->was_end = node->end;
}

/* Every node's factor goes to the bins under its slice. */
static void learn_density(struct state *s, const struct node node[])
{
    double bins = (double)s->bins, width = 1 / bins, sum = 0, scale;
    size_t i = 0;

    for (size_t b = 0; b < s->bins; b++) {
        double lo = (double)b * width, hi = (double)(b + 1) * width;
        double factor = 1;

        while (i < s->n && node[i].end <= lo)
            i++;
        for (size_t k = i; k < s->n && node[k].begin < hi; k++) {
            double part = lesser(hi, node[k].end) - greater(lo, node[k].begin);

            factor += greater(part, 0) * bins * (node[k].factor - 1);
        }
        s->cell[b] *= greater(factor, 1 / DENSITY_MOST);
        sum += s->cell[b];
    }
    scale = bins / sum;
    for (size_t b = 0; b < s->bins; b++)
        s->cell[b] =
            lesser(greater(s->cell[b] * scale, 1 / DENSITY_MOST), DENSITY_MOST);
}

/* --- what follows for the next frame -------------------------------------- */

/* Loads such that the density adds up to shares in proportion to speed;
   1 if they differ from those before. */
static int cut_by_density(const struct state *s, struct node node[])
{
    double total = 0, speeds = 0, target = 0, before = 0, at = 0;
    size_t b = 0;
    int changed = 0;

    for (size_t i = 0; i < s->bins; i++)
        total += s->cell[i];
    for (size_t i = 0; i < s->n; i++)
        speeds += node[i].speed;
    for (size_t i = 0; i < s->n; i++) {
        double x = at, load = 0;

        if (node[i].speed > 0) {
            target += total * (node[i].speed / speeds);
            while (b + 1 < s->bins && before + s->cell[b] < target)
                before += s->cell[b++];
            x = ((double)b + (target - before) / s->cell[b]) / (double)s->bins;
            x = lesser(x, 1);
            load = greater(x - at, LOAD_LEAST);
        }
        changed |= load < node[i].load || load > node[i].load;
        node[i].load = load;
        at = x;
    }
    return changed;
}

/* Take note of who left; 1 if somebody who had load did. */
static int drop_those_gone(struct node node[],
                           const struct completion c[],
                           size_t n)
{
    int changed = 0, able = 0;

    for (size_t i = 0; i < n; i++) {
        if (c[i].presence == PRESENCE_GONE) {
            changed |= node[i].load > 0;
            node[i].presence = PRESENCE_GONE;
            node[i].speed = 0;
        }
        able |= node[i].speed > 0;
    }
    for (size_t i = 0; i < n && !able; i++)
        if (node[i].presence == PRESENCE_PRESENT)
            node[i].speed = 1;
    return changed;
}

/* Nodes that had load but no unit grow; 1 if there is any. */
static int regain(struct state *s,
                  struct node node[],
                  const struct completion c[])
{
    double sum = 0;
    int any = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (node[i].speed > 0 && node[i].load > 0 && c[i].units == 0) {
            node[i].speed *= 1 + s->regain;
            node[i].load *= 1 + s->regain;
            node[i].samples = 0; /* what it does next is its speed */
            any = s->regain > 0;
        }
        sum += node[i].load;
    }
    for (size_t i = 0; i < s->n && any; i++)
        node[i].load /= sum;
    return any;
}

static int even_adjust(void *state,
                       const struct completion c[],
                       int over_threshold,
                       double load[])
{
    struct state *s = state;
    struct node *node = nodes_of(s);
    int left = drop_those_gone(node, c, s->n), changed = left;

    place_slices(node, c, s->n);
    if (find_surprises(s, node, c) > 0) {
        for (size_t i = 0; i < s->n; i++)
            learn_speed(s, &node[i]);
        learn_density(s, node);
        changed |= regain(s, node, c);
    }
    scale_speeds(node, s->n);
    if (over_threshold || left)
        changed |= cut_by_density(s, node);
    even_loads(s, load);
    return changed;
}

const struct policy_kind even_kind = {
    .name = "even",
    .help = "slices from measured speed (the default)",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .state_bytes = even_bytes,
    .init = even_init,
    .loads = even_loads,
    .by_speed = 1,
    .adjust = even_adjust,
};
