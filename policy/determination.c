/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/determination.h"
#include "policy/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void complete(struct determination *t, const struct dispatch *d)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct dispatch_node *s = dispatch_node(d, i);

        t->completion[i] = (struct completion){
            .units = s->done > 0 ? s->slice : 0,
            .seconds =
                tail_unaided(s->slice, s->done,
                             t->back[i] > 0 ? t->back[i] - t->sent[i] : 0),
            .presence =
                dispatch_may_send(d, i) ? PRESENCE_PRESENT : PRESENCE_GONE,
        };
    }
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
    t->efficiency = t->last > 0 ? busy / ((double)nodes * t->last) : 1;
    limit = threshold_seconds(rule, &t->noise, t->completion, t->n,
                              dispatch_grain(d));
    threshold_feedback(&t->noise, t->completion, t->n);
    t->over = spread(t) > limit;
}
