/* SPDX-License-Identifier: BSD-2-Clause */
/* What a bundle policy hears beside the sizes: the largest frame that waits, and
 * times of four parts. */
#include "policy/bundles.h"
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "tap.h"

#include <stdlib.h>

static const struct profile cpu = {{[ELEMENT_C] = 1}};

int main(void)
{
    const struct policy_kind *kind = kinds_find("proportional");
    struct metric m[2] = {{.JL = 1}, {.JL = 1}};
    double value[POLICY_PARAMS], load[2] = {50, 50};
    struct policy_setup setup = {2, m, &cpu, value};
    struct dispatch *d = dispatch_create(2, 10, 1);
    const struct dispatch_piece *p;
    void *state;

    policy_defaults(kind, value);
    state = malloc(kind->state_bytes(2, value));
    if (!d || !state || kind->init(state, &setup) < 0)
        bail("no memory");
    dispatch_set_policy(d, kind, state, load);
    (void)dispatch_begin(d, (struct slice){0, 1000}, NULL, 0);
    is_int(bundles_max(state, 0), 100,
           "at first the frame is all that is known");
    dispatch_expect(d, 50001);
    (void)dispatch_begin(d, (struct slice){0, 1000}, NULL, 0);
    is_int(bundles_max(state, 0), 5001,
           "the largest that waits counts for who has no job, in tasks");
    dispatch_expect(d, 20);
    (void)dispatch_begin(d, (struct slice){0, 1000}, NULL, 0);
    is_int(bundles_max(state, 0), 100, "a smaller one does not");
    (void)dispatch_feed(d, 0);
    p = dispatch_next(d);
    is_int(bundles_max(state, p->node), 100, "who has one goes by that");
    is_int((intmax_t)(p->units.end - p->units.begin), 100, "ten tasks first");
    dispatch_answered(d, p->id, 2.5, 2, 0);
    is_int(bundles_size(state, 0) > bundles_size(state, 1), 1,
           "a round trip of 2.5 s is faster than the second a task of JPPF");
    free(state);
    dispatch_destroy(d);
    return done();
}
