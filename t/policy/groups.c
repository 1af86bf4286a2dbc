/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two machines of two slots each, which the dispatcher takes for nodes: what
 * one slot fails at is tried on the other machine, not in the slot beside it.
 */
#include "policy/dispatch.h"
#include "policy/static.h"
#include "tap.h"

static const size_t group[] = {0, 0, 1, 1};
static const double load[] = {25, 25, 25, 25};
static struct dispatch *d;

static void begin(void)
{
    d = dispatch_create(4, 1, 1);
    if (!d)
        bail("no memory");
    dispatch_set_policy(d, &static_kind, NULL, load);
    dispatch_set_groups(d, group);
    if (dispatch_begin(d, (struct slice){0, 40}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
}

static void feed(double now)
{
    if (dispatch_feed(d, now) < 0)
        bail("no memory");
}

static int is_at(size_t node, uint64_t unit)
{
    const struct dispatch_piece *p = dispatch_current(d, node);

    return p && p->units.begin <= unit && unit < p->units.end;
}

static void answer(size_t node, double now, int well)
{
    const struct dispatch_piece *p = dispatch_current(d, node);

    if (!p)
        bail("no piece");
    if (well)
        dispatch_answered(d, p->id, now, 1, 0);
    else
        dispatch_failed(d, p->id, now, 1);
}

static unsigned failures(size_t node)
{
    return dispatch_node(d, node)->failures;
}

static void test_elsewhere(void)
{
    begin();
    answer(0, 1, 0);
    ok(failures(0) == 1 && failures(1) == 1 && failures(2) == 0,
       "a slot that fails speaks for its machine");
    answer(1, 2, 1);
    ok(failures(0) == 0 && failures(1) == 0, "and so does one that succeeds");
    dispatch_destroy(d);
    begin();
    answer(1, 1, 0);
    answer(0, 1, 0);
    is_int(failures(0), 2, "failures of all its slots are counted together");
    feed(2);
    ok(!dispatch_current(d, 0) && !dispatch_current(d, 1),
       "none of its slots tries again what they failed at");
    answer(2, 3, 1);
    feed(3);
    ok(is_at(2, 0) || is_at(2, 10), "the other machine does");
    dispatch_destroy(d);
}

static void test_last(void)
{
    begin();
    for (size_t i = 0; i < 4; i++)
        answer(i, 1, 0);
    feed(2);
    ok(dispatch_current(d, 0) || dispatch_current(d, 2),
       "where all have failed, they try again all the same");
    dispatch_destroy(d);
}

static void test_share(void)
{
    struct dispatch *other;

    begin();
    other = d;
    begin();
    answer(0, 1, 0);
    dispatch_share(other, 0, d);
    is_int(dispatch_node(other, 1)->failures, 1,
           "another frame learns it of the machine, too");
    dispatch_destroy(d);
    dispatch_destroy(other);
}

int main(void)
{
    test_elsewhere();
    test_last();
    test_share();
    return done();
}
