/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/cost_cpu.h"
#include "policy/select.h"

#include <math.h>

#define STEPS 8
/* The first of them go without knowing how noisy pieces are. */
#define STEPS_BLIND 2

/* A node that gives less of a CPU waits for something else. */
#define RATE_LEAST 0.03
/* How far wait may be from 0, against the shortest piece. */
#define WAIT_LOOSE 0.25
/* Nobody knows it better; seconds. */
#define WAIT_LEAST 0.02
/* From here on errors count for less than their square. */
#define HUBER 2
/* Seconds that a start varies by. */
#define JITTER 0.02

/* Noise before anything is known, and how many pieces that counts as. */
#define NOISE_START  0.06
#define NOISE_WEIGHT 4
#define NOISE_LEAST  0.01

/* What the nodes have in common; its slowness is 0 if it is not known yet. */
struct common {
    struct cost_cpu is;
    double shortest; /* piece; seconds */
};

/* Of a node's pieces, weighted: t is seconds, u CPU time. */
struct sums {
    double w, wt, wu, wut, wuu;
};

static int computes(const struct cost_piece *p)
{
    return p->run.cpu > RATE_LEAST * p->run.seconds;
}

/* What is not wait, but where that would be next to nothing. */
static double work_seconds(const struct cost_cpu *k, const struct cost_piece *p)
{
    return fmax(p->run.seconds - k->wait, p->run.seconds / 4);
}

double cost_cpu_seconds(const struct cost_cpu *k,
                        const struct cost_node *n,
                        const struct cost_piece *p)
{
    return k->wait + p->run.cpu / n->rate;
}

static double off(const struct cost_cpu *k,
                  const struct cost_node *n,
                  const struct cost_piece *p)
{
    return (p->seconds - cost_cpu_seconds(k, n, p)) / work_seconds(k, p);
}

double cost_cpu_error(const struct cost_cpu *k,
                      const struct cost_node *n,
                      const struct cost_piece *p)
{
    return off(k, n, p) / k->noise;
}

int cost_cpu_tells(const struct cost_cpu *k,
                   const struct cost_node *n,
                   const struct cost_piece *p)
{
    return k->wait_off > 0 && n->rate > 0 && computes(p);
}

double cost_cpu_alone(const struct cost_cpu *k,
                      const struct cost_node *n,
                      const struct cost_piece *p)
{
    const struct cost_run *run = &p->run;

    if (!(run->beside > 0) || !cost_cpu_tells(k, n, p))
        return run->seconds;
    return fmax(fmin(run->seconds, cost_cpu_seconds(k, n, p)),
                run->seconds - run->beside);
}

/* One that ran beside another may have had half of the CPUs for so long. */
static double weight_of(const struct cost_cpu *k,
                        const struct cost_node *n,
                        const struct cost_piece *p)
{
    double deviation =
        work_seconds(k, p) * k->noise + JITTER + p->run.beside / 2;
    double error;
    double weight = p->weight / (deviation * deviation);

    if (!(n->rate > 0))
        return weight;
    error = fabs(p->run.seconds - cost_cpu_seconds(k, n, p)) / deviation;
    return error > HUBER ? weight * HUBER / error : weight;
}

static struct sums sum_up(const struct cost_cpu *k, const struct cost_node *n)
{
    struct sums s = {0};

    for (size_t i = 0; i < n->n; i++) {
        const struct cost_piece *p = &n->piece[i];
        double w = computes(p) ? weight_of(k, n, p) : 0;

        s.w += w;
        s.wt += w * p->run.seconds;
        s.wu += w * p->run.cpu;
        s.wut += w * p->run.cpu * p->run.seconds;
        s.wuu += w * p->run.cpu * p->run.cpu;
    }
    return s;
}

/* How firmly 1 / rate is held at slowness / told: 1 / its variance. */
static double hold_of(const struct common *c, const struct cost_node *n)
{
    double deviation =
        fmax(n->told_loose, COST_CPU_ALIKE) * c->is.slowness / n->told;

    return c->is.slowness > 0 ? 1 / (deviation * deviation) : 0;
}

/*
 * Wait and slowness by the normal equations, from which each node's rate is
 * eliminated.  Returns 0 if they say nothing.
 */
static int fit_common(struct common *c,
                      const struct cost_node node[],
                      size_t nodes,
                      size_t stride)
{
    double loose = WAIT_LOOSE * c->shortest;
    double m00 = 1 / (loose * loose), m01 = 0, m11 = 0, y0 = 0, y1 = 0, det;

    for (size_t i = 0; i < nodes; i += stride) {
        struct sums s = sum_up(&c->is, &node[i]);
        double hold = hold_of(c, &node[i]), d = s.wuu + hold;

        if (!(s.wuu > 0))
            continue;
        m00 += s.w - s.wu * s.wu / d;
        m01 += s.wu * hold / (node[i].told * d);
        m11 += hold / (node[i].told * node[i].told) * (s.wuu / d);
        y0 += s.wt - s.wu * s.wut / d;
        y1 += hold * s.wut / (node[i].told * d);
    }
    det = m00 * m11 - m01 * m01;
    if (!(det > 0))
        return 0;
    c->is.wait = fmin(fmax((y0 * m11 - y1 * m01) / det, 0), c->shortest);
    c->is.wait_off = sqrt(m11 / det);
    c->is.slowness = (y1 - m01 * c->is.wait) / m11;
    return c->is.slowness > 0;
}

static void fit_rate(const struct common *c, struct cost_node *n)
{
    struct sums s = sum_up(&c->is, n);
    double hold = hold_of(c, n);
    double slowness =
        (s.wut - s.wu * c->is.wait + hold * c->is.slowness / n->told)
        / (s.wuu + hold);

    n->rate = s.wuu > 0 && slowness > 0 ? 1 / slowness : 0;
    n->rate_off = n->rate > 0 ? n->rate / sqrt(s.wuu) : 0;
}

/* The first guess: rates without a wait, and what they have in common. */
static int start(struct common *c,
                 struct cost_node node[],
                 size_t nodes,
                 size_t stride)
{
    double sum = 0;
    size_t n = 0;

    c->shortest = (double)INFINITY;
    for (size_t i = 0; i < nodes; i += stride) {
        node[i].rate = 0;
        fit_rate(c, &node[i]);
        for (size_t k = 0; k < node[i].n; k++)
            if (computes(&node[i].piece[k]))
                c->shortest = fmin(c->shortest, node[i].piece[k].run.seconds);
        n += node[i].rate > 0;
        sum += node[i].rate > 0 ? node[i].told / node[i].rate : 0;
    }
    if (n == 0)
        return 0;
    c->is.slowness = sum / (double)n;
    return 1;
}

/* What one has taken beside another is half a guess. */
static int tells_noise(const struct cost_piece *p)
{
    return computes(p) && !(p->run.beside > 0);
}

/* Of a node with one piece nobody knows how noisy it is. */
static double noise_of(const struct cost_cpu *k,
                       const struct cost_node node[],
                       size_t nodes,
                       size_t stride,
                       double scratch[],
                       size_t room)
{
    size_t n = 0;
    double found;

    for (size_t i = 0; i < nodes; i += stride)
        for (size_t j = 0; j < node[i].n && node[i].n > 1; j++)
            if (n < room && node[i].rate > 0 && tells_noise(&node[i].piece[j]))
                scratch[n++] = fabs(off(k, &node[i], &node[i].piece[j]));
    if (n == 0)
        return NOISE_START;
    found = 1.4826 * select_median(scratch, n);
    found =
        NOISE_WEIGHT * NOISE_START * NOISE_START + (double)n * found * found;
    return fmax(sqrt(found / (double)(NOISE_WEIGHT + n)), NOISE_LEAST);
}

struct cost_cpu cost_cpu_fit(struct cost_node *node,
                             size_t nodes,
                             size_t stride,
                             double scratch[],
                             size_t room)
{
    struct common c = {.is.noise = NOISE_START};
    int is_told = start(&c, node, nodes, stride);

    for (int step = 0; is_told && step < STEPS; step++) {
        is_told = fit_common(&c, node, nodes, stride);
        for (size_t i = 0; i < nodes; i += stride)
            fit_rate(&c, &node[i]);
        if (step >= STEPS_BLIND)
            c.is.noise = noise_of(&c.is, node, nodes, stride, scratch, room);
    }
    for (size_t i = 0; i < nodes; i++) {
        if (is_told)
            fit_rate(&c, &node[i]);
        else
            node[i].rate = node[i].rate_off = 0;
    }
    c.is.wait_off = is_told ? fmax(c.is.wait_off, WAIT_LEAST) : 0;
    return c.is;
}
