/* SPDX-License-Identifier: BSD-2-Clause */
/* How a frame of which nothing is done is cut: who begins with what of it. */
#include "policy/dispatch_state.h"

#include <math.h>

/* Of a node, by its load alone. */
static uint64_t part_of_frame(const struct dispatch *d, size_t node)
{
    double part = d->load[node] / d->loads;

    return (uint64_t)ceil(part * (double)units_in(d->frame));
}

/* What a node begins with. */
static void give_first(struct dispatch *d, size_t node, struct slice units)
{
    dispatch_set_waiting(d, node, (struct batch){.units = units});
    d->node[node].chunk = units_in(units);
}

/* What is for all, as who would begin with it is not here, behind other such units:
 * both as one where they adjoin, as a piece is of one batch. */
static struct slice put_beside(struct dispatch *d,
                               struct slice before,
                               struct slice units)
{
    if (before.end == units.begin)
        return (struct slice){before.begin, units.end};
    dispatch_put_back(d, &(struct batch){.units = before});
    return units;
}

/* By what pieces cost: what is not sent at once is for all. */
static void cut_by_cost(struct dispatch *d)
{
    struct slice rest, spare = {0}, *head = d->head;

    d->sizing.delay = d->delay;
    for (size_t i = 0; i < d->nodes; i++)
        d->sizing.free[i] = fmax(dispatch_free_from(d, i, 0), 0);
    if (!(d->loads > 0))
        return;
    sizing_cut(&d->sizing, d->load, head, &rest);
    unit_pool_empty(&d->pool);
    for (size_t i = 0; i < d->nodes; i++) {
        d->node[i].slice = part_of_frame(d, i);
        if (d->node[i].is_awaited)
            spare = put_beside(d, spare, head[i]);
        else
            give_first(d, i, head[i]);
    }
    rest = put_beside(d, spare, rest);
    dispatch_put_back(d, &(struct batch){.units = rest});
}

/* Nobody has a part of its own, but what that would be is known. */
static void leave_in_pool(struct dispatch *d)
{
    d->sizing.delay = d->delay;
    for (size_t i = 0; i < d->nodes && d->loads > 0; i++)
        d->node[i].slice = part_of_frame(d, i);
}

/* The whole frame, one slice a node, out of the pool; where no node is left it
 * stays there. */
static void cut_slices(struct dispatch *d)
{
    if (shares_cut(d->frame.begin, d->frame.end, d->grain, d->load, d->cut,
                   d->nodes)
        < 0)
        return;
    unit_pool_empty(&d->pool);
    for (size_t i = 0; i < d->nodes; i++) {
        d->node[i].slice = units_in(d->cut[i]);
        if (d->node[i].is_awaited)
            dispatch_put_back(d, &(struct batch){.units = d->cut[i]});
        else
            give_first(d, i, d->cut[i]);
    }
}

void dispatch_cut(struct dispatch *d)
{
    if (d->sizing.beside >= 0 || d->is_growing || d->needs)
        leave_in_pool(d);
    else if (dispatch_is_by_cost(d))
        cut_by_cost(d);
    else if (!d->kind->bundles)
        cut_slices(d);
}
