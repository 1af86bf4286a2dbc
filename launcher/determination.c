/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/determination.h"

#include <stdlib.h>
#include <string.h>

int determination_init(struct determination *t, size_t nodes)
{
    memset(t, 0, sizeof *t);
    t->n = nodes;
    t->completion = calloc(nodes, sizeof *t->completion);
    t->back = calloc(nodes, sizeof *t->back);
    if (t->completion && t->back)
        return 0;
    determination_clear(t);
    return -1;
}

void determination_clear(struct determination *t)
{
    free(t->completion);
    free(t->back);
    memset(t, 0, sizeof *t);
}

/* The policy hears what each node did of its own slice; what it took over
 * from a lost node says nothing of its speed.  Returns the sum of the times
 * that commands ran, and each node's last response in t->back. */
static double add_up(struct determination *t, const struct distribution *d)
{
    double busy = 0;

    for (size_t i = 0; i < t->n; i++) {
        t->back[i] = 0;
        t->completion[i] = (struct completion){
            .presence = session_node(d->session, i)->present ? PRESENCE_PRESENT
                                                             : PRESENCE_GONE,
        };
    }
    for (size_t i = 0; i < d->n; i++) {
        const struct piece *p = &d->piece[i];
        struct completion *c = &t->completion[p->node];

        if (p->state != PIECE_DONE)
            continue;
        if (p->attempt == 1) {
            c->units = p->slice.end - p->slice.begin;
            c->seconds = p->back;
        }
        if (p->back > t->back[p->node])
            t->back[p->node] = p->back;
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
        int came_back = t->back[i] > 0;

        nodes += came_back || t->completion[i].presence == PRESENCE_PRESENT;
        if (!came_back)
            continue;
        if (worked == 0 || t->back[i] < t->first)
            t->first = t->back[i];
        if (t->back[i] > t->last)
            t->last = t->back[i];
        sum += t->back[i];
        worked++;
    }
    t->efficiency = t->last > 0 ? busy / ((double)nodes * t->last) : 1;
    limit = threshold->value;
    if (threshold->percent)
        limit *= worked ? sum / (double)worked / 100 : 0;
    t->over = t->last - t->first > limit;
}
