/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/determination.h"

#include <stdlib.h>
#include <string.h>

int determination_init(struct determination *t, size_t nodes)
{
    memset(t, 0, sizeof *t);
    t->n = nodes;
    t->completion = calloc(nodes, sizeof *t->completion);
    return t->completion ? 0 : -1;
}

void determination_clear(struct determination *t)
{
    free(t->completion);
    memset(t, 0, sizeof *t);
}

/* What each node did; the sum of the times that commands ran. */
static double add_up(struct determination *t, const struct distribution *d)
{
    double busy = 0;

    for (size_t i = 0; i < t->n; i++)
        t->completion[i] = (struct completion){
            .presence = session_node(d->session, i)->present ? PRESENCE_PRESENT
                                                             : PRESENCE_GONE,
        };
    for (size_t i = 0; i < d->n; i++) {
        const struct piece *p = &d->piece[i];
        struct completion *c = &t->completion[p->node];

        if (p->state != PIECE_DONE)
            continue;
        c->units += p->slice.end - p->slice.begin;
        if (p->back > c->seconds)
            c->seconds = p->back;
        busy += p->seconds;
    }
    return busy;
}

void determination_weigh(struct determination *t,
                         const struct distribution *d,
                         const struct threshold *threshold)
{
    double busy = add_up(t, d), sum = 0, limit;
    size_t worked = 0, nodes = 0;

    t->first = t->last = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct completion *c = &t->completion[i];

        nodes += c->units > 0 || c->presence == PRESENCE_PRESENT;
        if (c->units == 0)
            continue;
        if (worked == 0 || c->seconds < t->first)
            t->first = c->seconds;
        if (c->seconds > t->last)
            t->last = c->seconds;
        sum += c->seconds;
        worked++;
    }
    t->efficiency = t->last > 0 ? busy / ((double)nodes * t->last) : 1;
    limit = threshold->value;
    if (threshold->percent)
        limit *= worked ? sum / (double)worked / 100 : 0;
    t->over = t->last - t->first > limit;
}
