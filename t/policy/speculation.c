/* SPDX-License-Identifier: BSD-2-Clause */
/* When a late piece is done twice at once, and what becomes of the two. */
#include "policy/speculation.h"
#include "policy/static.h"
#include "tap.h"

#define NODES 3

static struct dispatch *d;
static struct cost *cost;

/* Nodes of a speed each have a piece of ten units each, which takes 10 s / speed
 * with a noise of 5 %, if that is known.  All but node 0 are done by then. */
static void begin(const double speed[NODES], int is_known, double until)
{
    static double load[NODES];
    const struct cost_terms terms = {.each = 1};

    memcpy(load, (const double[NODES]){1, 1, 1}, sizeof load);
    d = dispatch_create(NODES, 1, 1);
    cost = cost_create(NODES, NULL);
    if (!d || !cost)
        bail("no memory");
    dispatch_set_policy(d, &static_kind, NULL, load);
    dispatch_set_cost(d, cost);
    if (is_known) {
        cost_expect_speeds(cost, speed);
        cost_expect(cost, &terms, 0.05);
    }
    dispatch_set_speculation(d, 1);
    if (dispatch_begin(d, (struct slice){0, 10 * NODES}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
    for (size_t i = 1; i < NODES && until > 0; i++)
        dispatch_answered(d, dispatch_current(d, i)->id, until, until, 0);
    while (dispatch_next(d))
        ;
}

static void end(void)
{
    dispatch_destroy(d);
    cost_destroy(cost);
}

/* The copy that is made now, or NULL. */
static const struct dispatch_piece *copy_at(double now)
{
    if (dispatch_feed(d, now) < 0 || dispatch_speculate(d, now) < 0)
        bail("no memory");
    return dispatch_next(d);
}

static const double alike[NODES] = {1, 1, 1};

static void test_when(void)
{
    const struct dispatch_piece *p;

    begin(alike, 1, 10);
    ok(!copy_at(10.5), "a piece that is late by its noise is not copied");
    ok(!copy_at(10.9), "nor while that gains less than a second");
    p = copy_at(12);
    ok(p && p->node == 1 && p->units.begin == 0 && p->units.end == 10,
       "one that is later is, to a node that is idle");
    ok(p && p->has_twin && dispatch_twin(d, p) == dispatch_current(d, 0)
           && p->attempt == 1,
       "and is the other's twin");
    ok(!copy_at(13) && !copy_at(1000), "once");
    end();
    begin((const double[NODES]){0.1, 1, 2}, 1, 10);
    p = copy_at(10);
    ok(p && p->node == 2,
       "what a slow node has begun, the fastest does sooner, late or not");
    end();
    begin((const double[NODES]){0.9, 1, 1}, 1, 10);
    ok(!copy_at(10), "where it gains nothing, nobody does");
    end();
}

static void test_unknown(void)
{
    begin(alike, 0, 2);
    ok(!copy_at(3), "of a node that nobody knows its time so far is believed");
    ok(copy_at(6), "as the time that it still takes");
    end();
    begin(alike, 0, 0);
    dispatch_lost(d, 1, 5);
    dispatch_returned(d, 1);
    ok(dispatch_feed(d, 5) == 0 && dispatch_next(d) && !copy_at(100),
       "while none is idle, nothing is copied");
    end();
}

static void test_meter(void)
{
    begin(alike, 1, 10);
    dispatch_metered(d, 0, dispatch_current(d, 0)->id, 0.95);
    ok(!copy_at(15), "one whose meter says that it is near its end is not");
    dispatch_metered(d, 0, dispatch_current(d, 0)->id, 0.2);
    ok(copy_at(15), "and one that is far from it is");
    end();
    begin(alike, 1, 4);
    dispatch_metered(d, 0, dispatch_current(d, 0)->id, 0.02);
    ok(copy_at(5), "before it is late, too");
    end();
}

static void test_not(void)
{
    static const size_t group[NODES] = {0, 0, 0};

    begin(alike, 1, 10);
    dispatch_set_groups(d, group);
    ok(!copy_at(15), "not at a slot of the same node");
    end();
    begin(alike, 1, 10);
    dispatch_set_end(d, 20);
    ok(!copy_at(15), "not where there is no time for it");
    end();
    begin(alike, 1, 10);
    dispatch_set_speculation(d, 0);
    ok(!copy_at(15), "not unless it is asked for");
    end();
    begin(alike, 1, 10);
    dispatch_distrust(d, 1, 10);
    dispatch_retire(d, 2, 10);
    ok(!copy_at(15), "nor at a node that may have nothing");
    end();
}

/* Ids of the two. */
static void begin_two(uint64_t id[2])
{
    const struct failure_rule none = {.retries = 0};
    const struct dispatch_piece *p;

    begin(alike, 1, 10);
    dispatch_set_failure_rule(d, &none);
    p = copy_at(15);
    if (!p)
        bail("no copy");
    id[0] = p->twin;
    id[1] = p->id;
}

static void test_answers(int first)
{
    const struct dispatch_piece *loser;
    uint64_t id[2];

    begin_two(id);
    dispatch_answered(d, id[first], 20, first == 0 ? 20 : 5, 0);
    loser = dispatch_piece(d, (size_t)id[!first]);
    ok(dispatch_left(d) == 0
           && dispatch_piece(d, (size_t)id[first])->state == PIECE_DONE
           && !dispatch_piece(d, (size_t)id[first])->is_beaten,
       "%s is first: its answer counts", first ? "the copy" : "the piece");
    ok(loser->state == PIECE_VOID && loser->is_beaten && loser->back >= 20
           && !dispatch_find(d, loser->node, loser->id)
           && dispatch_node(d, loser->node)->out == 0
           && dispatch_node(d, loser->node)->done == (loser->node ? 10 : 0)
           && dispatch_node(d, loser->node)->failures == 0,
       "the other was for nothing, and its node is free and not to blame");
    ok(dispatch_pool(d)->units == 0, "its units are not done again");
    end();
}

/* A node that is slow from now on has less to do in the next frame. */
static void test_learned(void)
{
    const struct dispatch_piece *p;

    begin(alike, 1, 10);
    p = copy_at(15);
    if (!p)
        bail("no copy");
    dispatch_answered(d, p->id, 25, 10, 0);
    ok(cost_seconds(cost, 0, 10) > 1.5 * cost_seconds(cost, 1, 10),
       "a node that is beaten is slow: %.1f s, for the others' %.1f",
       cost_seconds(cost, 0, 10), cost_seconds(cost, 1, 10));
    end();
    begin(alike, 1, 10);
    p = copy_at(15);
    if (!p)
        bail("no copy");
    dispatch_answered(d, p->twin, 16, 16, 0);
    ok(cost_seconds(cost, 1, 10) < 12, "but not one whose copy had just begun");
    end();
}

static void test_failures(int first)
{
    uint64_t id[2];

    begin_two(id);
    dispatch_failed(d, id[first], 16, 1);
    ok(dispatch_verdict(d, id[first]) == FAILURE_COPIED
           && dispatch_pool(d)->units == 0 && dispatch_left(d) == 10
           && dispatch_node(d, first ? 1 : 0)->failures == 0,
       "%s fails: that does not count, as the other goes on",
       first ? "the copy" : "the piece");
    ok(!copy_at(1000), "and there is no third");
    dispatch_failed(d, id[!first], 1001, 1);
    ok(dispatch_left_out(d) == 10, "when that fails as well, it has failed");
    end();
}

static void test_lost(void)
{
    const struct dispatch_piece *p;
    uint64_t id[2];

    begin_two(id);
    dispatch_lost(d, 1, 16);
    ok(dispatch_pool(d)->units == 0 && dispatch_find(d, 0, id[0]),
       "the copy is lost with its node: the piece goes on");
    p = copy_at(17);
    ok(p && p->node == 2 && p->twin == id[0], "and may have another one");
    dispatch_lost(d, 0, 18);
    ok(dispatch_pool(d)->units == 0 && p && dispatch_find(d, 2, p->id),
       "the piece is lost: the copy goes on");
    dispatch_lost(d, 2, 19);
    ok(dispatch_pool(d)->units == 10, "both are: its units are nobody's");
    end();
}

int main(void)
{
    test_when();
    test_unknown();
    test_meter();
    test_not();
    test_answers(0);
    test_answers(1);
    test_learned();
    test_failures(0);
    test_failures(1);
    test_lost();
    return done();
}
