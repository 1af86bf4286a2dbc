/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames side by side: what a dispatcher knows of the others. */
#include "policy/dispatch_state.h"

#include <math.h>

void dispatch_number(struct dispatch *d, uint64_t first_id)
{
    d->first_id = first_id;
}

void dispatch_share(struct dispatch *d, size_t node, const struct dispatch *of)
{
    const struct dispatch_node *s = &of->node[node];

    d->node[node].speed = s->speed;
    dispatch_set_failures(d, node, s->failures);
    if (of->delay > 0)
        d->delay = of->delay;
}

static double busy_by_cost(const struct dispatch *d,
                           size_t node,
                           double now,
                           int with_waiting)
{
    const struct dispatch_node *s = &d->node[node];
    double busy =
        s->out > 0 ? fmax(dispatch_free_at(d, node, now) - now, 0) : 0;

    if (!with_waiting || units_in(s->waiting.units) == 0
        || !cost_is_known(d->sizing.cost))
        return busy;
    return busy
           + cost_seconds(d->sizing.cost, node,
                          sizing_work(&d->sizing, s->waiting.units));
}

double dispatch_busy(const struct dispatch *d,
                     size_t node,
                     double now,
                     int with_waiting)
{
    const struct dispatch_node *s = &d->node[node];
    double waiting = with_waiting ? (double)units_in(s->waiting.units) : 0;
    double since = s->out > 0 ? now - s->begun : 0;

    if (dispatch_is_by_cost(d))
        return busy_by_cost(d, node, now, with_waiting);
    if (!(s->speed > 0))
        return since;
    return fabs((double)s->out_units / s->speed - since) + waiting / s->speed;
}

void dispatch_elsewhere(struct dispatch *d,
                        size_t node,
                        size_t out,
                        double free)
{
    d->node[node].elsewhere = out;
    d->node[node].free = free;
}

int dispatch_can_join(const struct dispatch *d)
{
    return dispatch_is_by_cost(d) && d->kind->by_speed
           && cost_is_known(d->sizing.cost);
}

void dispatch_set_beside(struct dispatch *d, double work, int is_followed)
{
    d->sizing.beside = work;
    d->sizing.is_followed = is_followed;
}

void dispatch_turn(struct dispatch *d, size_t node, double now)
{
    d->node[node].begun = now;
}
