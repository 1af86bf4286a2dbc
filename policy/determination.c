/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/determination.h"
#include "policy/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a piece that is started for longer, the rest says little. */
#define PURE_LEAST 0.2

int determination_init(struct determination *t, size_t nodes)
{
    memset(t, 0, sizeof *t);
    t->n = nodes;
    t->completion = calloc(nodes, sizeof *t->completion);
    t->back = calloc(nodes, sizeof *t->back);
    t->sent = calloc(nodes, sizeof *t->sent);
    if (t->completion && t->back && t->sent)
        return 0;
    determination_clear(t);
    return -1;
}

void determination_clear(struct determination *t)
{
    free(t->completion);
    free(t->back);
    free(t->sent);
    memset(t, 0, sizeof *t);
}

/* Returns the sum of the times that commands ran; of each node t->sent and
 * t->back are filled in. */
static double add_up(struct determination *t, const struct dispatch *d)
{
    double busy = 0;

    memset(t->back, 0, t->n * sizeof *t->back);
    for (size_t i = 0; i < dispatch_pieces(d); i++) {
        const struct dispatch_piece *p = dispatch_piece(d, i);

        if (p->state != PIECE_DONE)
            continue;
        if (!(t->back[p->node] > 0) || p->sent < t->sent[p->node])
            t->sent[p->node] = p->sent;
        if (p->back > t->back[p->node])
            t->back[p->node] = p->back;
        busy += p->seconds;
    }
    return busy;
}

/* A piece's time without its start; if there was hardly any else, what it is
 * believed to be. */
static double pure_seconds(const struct dispatch *d,
                           const struct dispatch_piece *p)
{
    const struct cost *cost = dispatch_cost(d);
    double start = cost_seconds(cost, p->node, 0);
    double units = (double)(p->units.end - p->units.begin);

    if (p->seconds - start < PURE_LEAST * p->seconds)
        return cost_seconds(cost, p->node, units) - start;
    return p->seconds - start;
}

/* By the first piece of each node: there it was alone, and it has a place. */
static void complete_by_cost(struct determination *t, const struct dispatch *d)
{
    struct slice frame = dispatch_frame(d);
    double all = (double)(frame.end - frame.begin);

    for (size_t i = dispatch_pieces(d); i-- > 0;) {
        const struct dispatch_piece *p = dispatch_piece(d, i);
        struct completion *c = &t->completion[p->node];
        double units = (double)(p->units.end - p->units.begin);

        if (p->state != PIECE_DONE || c->units == 0)
            continue;
        c->seconds = pure_seconds(d, p) / units * (double)c->units;
        c->begin = (double)(p->units.begin - frame.begin) / all;
        c->end = (double)(p->units.end - frame.begin) / all;
    }
}

static void complete(struct determination *t, const struct dispatch *d)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct dispatch_node *s = dispatch_node(d, i);

        t->completion[i] = (struct completion){
            .units = s->done > 0 ? s->slice : 0,
            .seconds =
                tail_unaided(s->slice, s->done,
                             t->back[i] > 0 ? t->back[i] - t->sent[i] : 0),
            .presence = dispatch_may_send(d, i) && !s->is_awaited
                            ? PRESENCE_PRESENT
                            : PRESENCE_GONE,
        };
    }
    if (dispatch_is_by_cost(d))
        complete_by_cost(t, d);
}

/* The difference between the first and the last time of t->completion. */
static double spread(const struct determination *t)
{
    double first = INFINITY, last = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (t->completion[i].units == 0)
            continue;
        first = fmin(first, t->completion[i].seconds);
        last = fmax(last, t->completion[i].seconds);
    }
    return last > first ? last - first : 0;
}

void determination_weigh(struct determination *t,
                         const struct dispatch *d,
                         const struct threshold_rule *rule)
{
    double busy = add_up(t, d), limit;
    size_t nodes = 0;

    complete(t, d);
    t->first = INFINITY;
    t->last = 0;
    for (size_t i = 0; i < t->n; i++) {
        int came_back = t->back[i] > 0;

        nodes += came_back || t->completion[i].presence == PRESENCE_PRESENT;
        if (came_back)
            t->first = fmin(t->first, t->back[i]);
        t->last = fmax(t->last, t->back[i]);
    }
    if (!(t->last > 0))
        t->first = 0;
    t->busy = t->last > 0 ? busy / ((double)nodes * t->last) : 1;
    limit = threshold_seconds(rule, &t->noise, t->completion, t->n,
                              dispatch_grain(d));
    threshold_feedback(&t->noise, t->completion, t->n);
    t->over = spread(t) > limit;
}
