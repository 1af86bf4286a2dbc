/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/sizing.h"
#include "policy/level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_STEPS 40 /* to a level of whole grains; a few are enough */
#define GRAIN_SLACK 1e-6

int sizing_init(struct sizing *s, size_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->grain = 1;
    s->free = calloc(n, sizeof *s->free);
    s->speed = calloc(n, sizeof *s->speed);
    s->share = calloc(n, sizeof *s->share);
    if (s->free && s->speed && s->share)
        return 0;
    sizing_clear(s);
    return -1;
}

void sizing_clear(struct sizing *s)
{
    free(s->free);
    free(s->speed);
    free(s->share);
    memset(s, 0, sizeof *s);
}

double sizing_work(const struct sizing *s, struct slice units)
{
    (void)s;
    return (double)(units.end - units.begin);
}

/* --- what is believed ----------------------------------------------------- */

/* A start is also what a piece is on its way. */
static struct cost_terms terms_of(const struct sizing *s)
{
    struct cost_terms t = {.each = 1};

    if (cost_is_known(s->cost)) {
        t = cost_terms(s->cost);
        t.wait += s->delay;
    }
    return t;
}

/* Of a node's slice or part, at first, of a command that is not known. */
static double first_part(size_t node)
{
    return 0.25 + 0.1 * (double)(node * 3 % 4);
}

/* --- how much at once ----------------------------------------------------- */

static double worst_of(size_t n)
{
    return n > 1 ? 0.9 * sqrt(2 * log((double)n)) : 0;
}

/* The seconds of work that are held back, of those in one piece of a node. */
static double held_back(const struct sizing *s,
                        const struct cost_terms *t,
                        double speed,
                        double span,
                        double late)
{
    double noise = cost_noise(s->cost), start = t->wait + t->burn / speed;
    double worst = worst_of(s->n);
    double one = noise * span * worst;
    double tail = fmin(span / 2, late + 1.5 * one + 2 * start);

    if (fmax(start, SIZING_START_LEAST) < SIZING_INSURANCE * span)
        return span / 2;
    return start + noise * tail * worst < one + late ? tail : 0;
}

/* The part of `work` that a node is sent at once. */
static double at_once(
    const struct sizing *s, size_t node, double speed, double work, double late)
{
    struct cost_terms t = terms_of(s);
    double span = t.each * work / speed;

    if (!cost_is_known(s->cost))
        return first_part(node);
    return span > 0 ? 1 - held_back(s, &t, speed, span, late) / span : 1;
}

static uint64_t to_grains(const struct sizing *s, double units)
{
    return (uint64_t)(units / (double)s->grain + GRAIN_SLACK) * s->grain;
}

/* --- a frame -------------------------------------------------------------- */

/* The loads as speeds: of the scale of those that the cost has. */
static void take_loads(struct sizing *s, const double load[])
{
    double loads = 0, speeds = 0;

    for (size_t i = 0; i < s->n; i++) {
        loads += load[i];
        speeds += load[i] > 0 ? cost_speed(s->cost, i) : 0;
    }
    for (size_t i = 0; i < s->n; i++)
        s->speed[i] = loads > 0 ? load[i] * (speeds / loads) : 0;
}

/* Slices as wide as the heads, one behind the other. */
static void place_heads(struct sizing *s,
                        const struct slice slice[],
                        struct slice head[],
                        struct slice *rest)
{
    uint64_t at = s->frame.begin;

    for (size_t i = 0; i < s->n; i++) {
        uint64_t units = slice[i].end - slice[i].begin;
        double part =
            units > 0 ? at_once(s, i, s->speed[i], (double)units, 0) : 0;
        uint64_t n = to_grains(s, part * (double)units + (double)s->grain - 1);

        n = n < units ? n : units;
        head[i] = (struct slice){at, at + n};
        at += n;
    }
    *rest = (struct slice){at, s->frame.end};
}

int sizing_cut(struct sizing *s,
               const double load[],
               struct slice slice[],
               struct slice head[],
               struct slice *rest)
{
    struct cost_terms t = terms_of(s);

    take_loads(s, load);
    s->level =
        level_find(s->free, s->speed, s->n, &t, sizing_work(s, s->frame));
    for (size_t i = 0; i < s->n; i++)
        s->share[i] = level_part(s->level, s->free[i], s->speed[i], &t);
    if (shares_cut(s->frame.begin, s->frame.end, s->grain, s->share, slice,
                   s->n)
        < 0)
        return -1;
    place_heads(s, slice, head, rest);
    return 0;
}

/* --- the pool ------------------------------------------------------------- */

/* Work in whole grains that all do until a level. */
static double whole_parts(const struct sizing *s,
                          const struct cost_terms *t,
                          double level)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->speed[i] > 0)
            sum += (double)to_grains(
                s, fmin(level_part(level, s->free[i], s->speed[i], t), 0x1p62));
    return sum;
}

void sizing_look(struct sizing *s, double work)
{
    struct cost_terms t = terms_of(s);
    double speeds = 0;

    for (size_t i = 0; i < s->n; i++)
        speeds += s->speed[i];
    if (!(speeds > 0) || !(work > 0))
        return;
    s->level = level_find(s->free, s->speed, s->n, &t, work);
    for (int k = 0; k < WHOLE_STEPS; k++) {
        double missing = work - whole_parts(s, &t, s->level);

        if (missing <= 0)
            return;
        s->level += fmax(missing, (double)s->grain) * t.each / speeds;
    }
}

uint64_t sizing_part(const struct sizing *s,
                     size_t node,
                     double now,
                     struct slice batch)
{
    struct cost_terms t = terms_of(s);
    double speed = s->speed[node], work, most = sizing_work(s, batch);
    uint64_t units;

    if (!(speed > 0))
        return 0;
    work =
        fmin(level_part(s->level, cost_is_known(s->cost) ? now : 0, speed, &t),
             most);
    if (to_grains(s, work) == 0 && work < most)
        return 0;
    work *= at_once(s, node, speed, work, 0);
    units = to_grains(s, work);
    if (units == 0)
        units = s->grain;
    return units;
}

double sizing_end(
    const struct sizing *s, size_t node, double work, double begun, double now)
{
    double end = begun + s->delay;

    end += cost_seconds(s->cost, node, work);
    return end > now ? end : now + (now - end);
}
