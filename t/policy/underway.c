/* SPDX-License-Identifier: BSD-2-Clause */
/* What is probably done of pieces that are not back: 10 units a second, after a
 * start of a second. */
#include "policy/underway.h"
#include "policy/kinds.h"

#include "tap.h"

static const double load[] = {1, 1};

int main(void)
{
    const struct cost_terms terms = {.wait = 1, .each = 0.1};
    struct cost *cost = cost_create(2, NULL);
    struct dispatch *d = dispatch_create(2, 1, 1);
    const struct dispatch_piece *p;

    if (!cost || !d)
        bail("no memory");
    dispatch_set_policy(d, kinds_find("static"), NULL, load);
    if (dispatch_begin(d, (struct slice){0, 200}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
    while (dispatch_next(d))
        ;
    is_near(underway_units(d, 5), 0, 0, "without costs nothing is known");
    p = dispatch_current(d, 0);
    dispatch_metered(d, 0, p->id, 0.25);
    is_near(underway_units(d, 5), 25, 1e-9, "but by a meter");
    dispatch_metered(d, 0, p->id, 0);
    cost_expect_speeds(cost, load);
    cost_expect(cost, &terms, 0.01);
    dispatch_set_cost(d, cost);
    is_near(underway_units(d, 0.5), 0, 1e-9, "while it starts: nothing");
    is_near(underway_units(d, 6), 100, 1e-6, "then what was to be expected");
    is_near(underway_units(d, 100), 190, 1e-6, "all but the last is not done");
    dispatch_answered(d, p->id, 11, 11, 0);
    is_near(underway_units(d, 11), 95, 1e-6, "what is back is not underway");
    dispatch_destroy(d);
    cost_destroy(cost);
    return done();
}
