/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node gets its next piece when a start-up before the end of the one that it
 * works at, and never a third one; and what fails for want of room is not held
 * against anybody.
 */
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "policy/static.h"
#include "tap.h"

/* Of 10 units: 1 s to start, 1 s to do. */
static const struct cost_terms terms = {.wait = 1, .each = 0.1};
static const double speed[] = {1, 1}, load[] = {50, 50};
static struct metric metric[2] = {{.JL = 50}, {.JL = 50}};
static char may[2];
static void *state;
static struct cost *cost;
static struct dispatch *d;

static void make(const struct policy_kind *kind, uint64_t pieces, int is_known)
{
    static const double value[POLICY_PARAMS] = {10};
    static const struct profile profile = {{1}};
    const struct policy_setup setup = {2, metric, &profile, value};

    state = NULL;
    if (kind->bundles) {
        state = malloc(kind->state_bytes(2, value));
        if (!state || kind->init(state, &setup) < 0)
            bail("no policy");
    }
    cost = cost_create(2, NULL);
    d = dispatch_create(2, 1, pieces);
    if (!cost || !d)
        bail("no memory");
    cost_expect_speeds(cost, speed);
    if (is_known)
        cost_expect(cost, &terms, 0.05);
    dispatch_set_policy(d, kind, state, load);
    dispatch_set_cost(d, cost);
    dispatch_set_overlap(d, may);
    may[0] = may[1] = 1;
}

static void end(void)
{
    dispatch_destroy(d);
    cost_destroy(cost);
    free(state);
}

static size_t out(size_t node)
{
    return dispatch_node(d, node)->out;
}

/* How many a node has out after feeding at that time. */
static size_t fed(size_t node, double now)
{
    if (dispatch_feed(d, now) < 0)
        bail("cannot feed");
    while (dispatch_next(d))
        ;
    return out(node);
}

static uint64_t first_of(size_t node)
{
    return dispatch_node(d, node)->piece[0];
}

static void begin(uint64_t units)
{
    if (dispatch_begin(d, (struct slice){0, units}, NULL, 0) < 0)
        bail("no memory");
}

static void test_time(void)
{
    make(kinds_find("manual"), 1, 1);
    begin(60);
    is_int((long)fed(0, 0), 1, "a bundle is sent, and none ahead in hand");
    is_int((long)fed(0, 0.99), 1, "nor while the first works");
    is_int((long)fed(0, 1.01), 2, "but a start-up before its end");
    is_int((long)fed(0, 1.9), 2, "and no third one");
    dispatch_answered(d, first_of(0), 2, 2, 0);
    is_near(dispatch_node(d, 0)->begun, 1.01, 1e-9,
            "the second was begun when it was sent");
    is_int((long)fed(0, 2), 1, "and works alone");
    is_int((long)fed(0, 2.1), 2, "until it is near its end");
    end();
}

static void test_forbidden(void)
{
    make(kinds_find("manual"), 1, 1);
    may[0] = 0;
    begin(60);
    is_int((long)fed(0, 0), 2, "where it may not be, one waits in hand");
    is_int((long)out(1), 1, "at that node only");
    may[1] = 0;
    is_int((long)fed(1, 0.1), 2, "it may change at any time");
    end();
}

static void test_unknown(void)
{
    make(kinds_find("manual"), 1, 0);
    begin(60);
    is_int((long)fed(0, 1000), 1, "one sent ...");
    is_int((long)fed(0, 9000), 1, "whose end nobody knows has none beside it");
    end();
}

/* Slices in pieces, and what another frame has out. */
static void test_pieces(void)
{
    make(&static_kind, 2, 1);
    begin(40);
    is_int((long)fed(0, 0), 1, "of a slice one piece is sent");
    is_int((long)fed(0, 1.2), 2, "and the next before the first is done");
    end();
    make(&static_kind, 2, 1);
    dispatch_elsewhere(d, 0, 1, 5);
    begin(40);
    is_int((long)fed(0, 3.9), 0, "a node that works at another frame waits");
    is_int((long)fed(0, 4.1), 1, "until that is near its end");
    dispatch_elsewhere(d, 0, 2, 5);
    ok(!dispatch_has_room(d, 0, 5), "two of other frames are enough");
    end();
}

static void test_crowded(void)
{
    const struct failure_rule rule = {.retries = 0};
    uint64_t id;

    make(kinds_find("manual"), 1, 1);
    dispatch_set_failure_rule(d, &rule);
    begin(60);
    (void)fed(0, 0);
    (void)fed(0, 1.01);
    id = first_of(0);
    dispatch_crowded(d, id);
    dispatch_failed(d, id, 1.5, 1.5);
    ok(dispatch_verdict(d, id) == FAILURE_RETRY,
       "one that had no room is tried again, whatever --retries");
    is_int(dispatch_node(d, 0)->failures, 0, "its node has not failed");
    is_int((long)dispatch_left(d), 60, "and its units are to be done");
    id = first_of(0);
    dispatch_failed(d, id, 1.6, 0.5);
    ok(dispatch_verdict(d, id) == FAILURE_LEAVE_OUT,
       "another failure counts as ever");
    end();
}

/* Two that run at once take longer, and that says nothing of the node.  Its speed,
 * against the other's, after a piece that took twice as long as the others. */
static double speed_after(double beside)
{
    double ratio;
    uint64_t id;

    make(&static_kind, 1, 0);
    for (int i = 0; i < 8; i++) {
        double work = i < 4 ? 1 : 2;

        cost_add(cost, (size_t)i % 2, &(struct cost_part){.units = 10 * work},
                 &(struct cost_run){.seconds = 1 + work, .cpu = work / 2});
    }
    cost_fit(cost);
    begin(20);
    (void)fed(0, 0);
    id = first_of(0);
    dispatch_ran_beside(d, id, beside);
    dispatch_answered(d, id, 4, 4, 0.5);
    cost_fit(cost);
    ratio = cost_speed(cost, 0) / cost_speed(cost, 1);
    end();
    return ratio;
}

static void test_beside(void)
{
    is_near(speed_after(3), 1, 0.05, "who works at two is not slow for that");
    ok(speed_after(0) < 0.8, "who takes as long for one is");
}

int main(void)
{
    test_time();
    test_forbidden();
    test_unknown();
    test_pieces();
    test_crowded();
    test_beside();
    return done();
}
