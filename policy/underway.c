/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/underway.h"

#include <math.h>

#define MOST 0.95 /* of a piece */

/* The part of its piece that a node has done. */
static double part_done(const struct dispatch *d,
                        const struct dispatch_piece *p,
                        double now)
{
    const struct dispatch_node *s = dispatch_node(d, p->node);
    const struct cost *cost = dispatch_cost(d);
    double start, all, units = (double)(p->units.end - p->units.begin);

    if (s->metered > 0)
        return s->metered / units;
    if (!cost || !cost_is_known(cost))
        return 0;
    start = cost_seconds(cost, p->node, 0);
    all = cost_seconds(cost, p->node, dispatch_work_of(d, p));
    return all > start ? (now - s->begun - start) / (all - start) : 0;
}

/* Has its copy come further?  Of these one counts. */
static int is_behind(const struct dispatch *d,
                     const struct dispatch_piece *p,
                     double now)
{
    const struct dispatch_piece *twin = dispatch_twin(d, p);
    double mine, other;

    if (!twin || dispatch_current(d, twin->node) != twin)
        return 0;
    mine = part_done(d, p, now);
    other = part_done(d, twin, now);
    return other > mine || (!(mine > other) && twin->id < p->id);
}

double underway_units(const struct dispatch *d, double now)
{
    double sum = 0;

    for (size_t i = 0; i < dispatch_nodes(d); i++) {
        const struct dispatch_piece *p = dispatch_current(d, i);

        if (p && !is_behind(d, p, now))
            sum += fmin(fmax(part_done(d, p, now), 0), MOST)
                   * (double)(p->units.end - p->units.begin);
    }
    return sum;
}
