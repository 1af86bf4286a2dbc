/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of which a part is done, those that another node is to try, and frames that a
 * run before said one node should have whole. */
#include "policy/cost.h"
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "tap.h"

#define NODES 3

static double load[NODES] = {40, 30, 30}, state[64];
static struct dispatch *d;

static void begin_with(const char *policy, const double loads[], uint64_t units)
{
    static const struct failure_rule rule = {.doubts = 1};

    d = dispatch_create(NODES, 1, 1);
    if (!d)
        bail("no memory");
    dispatch_set_policy(d, kinds_find(policy), state, loads);
    dispatch_set_failure_rule(d, &rule);
    if (dispatch_begin(d, (struct slice){0, units}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
}

static void begin(const char *policy)
{
    begin_with(policy, load, 100);
}

static uint64_t id_at(size_t node)
{
    const struct dispatch_piece *p = dispatch_current(d, node);

    if (!p)
        bail("node %zu has nothing", node);
    return p->id;
}

/* All that is left is done, by whoever gets it; each unit counts in once. */
static void finish(unsigned char once[100])
{
    int any = 1;

    for (double now = 10; any; now++) {
        any = 0;
        for (size_t i = 0; i < NODES; i++) {
            const struct dispatch_piece *p = dispatch_current(d, i);

            if (!p)
                continue;
            any = 1;
            for (uint64_t u = p->units.begin; u < p->units.end; u++)
                once[u]++;
            dispatch_answered(d, p->id, now, 1, 1);
        }
        if (dispatch_feed(d, now) < 0)
            bail("no memory");
    }
}

static int is_each_once(const unsigned char once[100])
{
    for (size_t i = 0; i < 100; i++)
        if (once[i] != 1)
            return 0;
    return 1;
}

static void test_shorten(const char *policy)
{
    unsigned char once[100] = {0};
    uint64_t first, end, units;

    begin(policy);
    first = dispatch_current(d, 0)->units.begin;
    end = dispatch_current(d, 0)->units.end;
    units = dispatch_node(d, 0)->out_units;
    dispatch_shorten(d, id_at(0), first + 5);
    ok(dispatch_current(d, 0)->units.begin == first
           && dispatch_current(d, 0)->units.end == first + 5,
       "%s: a piece has only what is done of it", policy);
    is_int((intmax_t)dispatch_node(d, 0)->out_units,
           (intmax_t)(units - (end - first - 5)), "so has its node");
    is_int((intmax_t)dispatch_left(d), 100, "all is to be done still");
    for (uint64_t u = first; u < first + 5; u++)
        once[u]++;
    dispatch_answered(d, id_at(0), 1, 1, 1);
    is_int((intmax_t)dispatch_left(d), 95, "but that, when it counts");
    dispatch_shorten(d, id_at(1), dispatch_current(d, 1)->units.begin + 1);
    dispatch_lost(d, 1, 2);
    ok(dispatch_feed(d, 2) == 0 && dispatch_left(d) == 95,
       "one that is cut, and lost, is to be done whole");
    finish(once);
    ok(dispatch_left(d) == 0 && is_each_once(once), "each unit is done once");
    dispatch_destroy(d);
}

static void test_split(const char *policy)
{
    unsigned char once[100] = {0};
    uint64_t first, units;
    const struct dispatch_piece *head;

    begin(policy);
    first = dispatch_current(d, 0)->units.begin;
    units = dispatch_node(d, 0)->out_units;
    while (dispatch_next(d))
        ; /* all are sent */
    ok(dispatch_split(d, id_at(0), 3, 5, 2, 1) == 0
           && dispatch_current(d, 0)->units.begin == first + 3,
       "%s: what is done of a piece is no more of it", policy);
    head = dispatch_piece(d, dispatch_pieces(d) - 1);
    ok(head->state == PIECE_DONE, "it is a piece that is done");
    is_int((intmax_t)head->units.begin, (intmax_t)first, "from the first ...");
    is_int((intmax_t)head->units.end, (intmax_t)first + 3, "... to the last");
    ok(fabs(head->back - 2) < 1e-9 && fabs(head->seconds - 2) < 1e-9,
       "which took as long as was told");
    ok(fabs(dispatch_node(d, 0)->begun - 2) < 1e-9,
       "then the others were begun");
    is_int((intmax_t)dispatch_node(d, 0)->out_units, (intmax_t)units - 3,
           "its node has these out");
    is_int((intmax_t)dispatch_left(d), 97, "three units are done");
    ok(!dispatch_next(d), "nothing is sent by that");
    for (uint64_t u = first; u < first + 3; u++)
        once[u]++;
    dispatch_lost(d, 0, 6);
    ok(dispatch_feed(d, 6) == 0 && dispatch_left(d) == 97,
       "they stay done where their node is lost");
    finish(once);
    ok(dispatch_left(d) == 0 && is_each_once(once), "each unit is done once");
    dispatch_destroy(d);
}

static void is_idle(size_t node, enum idle_reason why, const char *text)
{
    is_str(idle_word(dispatch_idle(d, node)), idle_word(why), text);
}

static void test_idle(void)
{
    static const double none[NODES] = {50, 0, 50};

    begin("static");
    is_idle(0, IDLE_NOT, "a node with a piece is at work");
    dispatch_answered(d, id_at(0), 1, 1, 1);
    is_idle(0, IDLE_NOTHING_LEFT,
            "one that has done its part has nothing left");
    dispatch_failed(d, id_at(1), 2, 1);
    is_idle(1, IDLE_FAILS, "what has failed there is for another node");
    dispatch_lost(d, 2, 3);
    is_idle(2, IDLE_LOST, "one that is lost");
    dispatch_destroy(d);

    begin("static");
    dispatch_retire(d, 1, 0);
    dispatch_answered(d, id_at(1), 1, 1, 1);
    is_idle(1, IDLE_LEAVING, "one that leaves when it has done what it was at");
    dispatch_destroy(d);

    begin_with("static", none, 100);
    is_idle(1, IDLE_NO_SHARE, "one whose load is 0");
    dispatch_destroy(d);

    begin_with("static", load, 2);
    is_idle(2, IDLE_FEW_UNITS, "two units for three nodes");
    dispatch_destroy(d);
}

static void test_doubts(void)
{
    begin("static");
    ok(dispatch_doubts(d, id_at(0)),
       "of a node that has done nothing yet: in doubt");
    dispatch_failed(d, id_at(0), 1, 1);
    ok(dispatch_left(d) == 100 && dispatch_doubts(d, id_at(1)),
       "it is tried by another, and so is what the next one fails at");
    dispatch_failed(d, id_at(1), 1, 1);
    ok(!dispatch_doubts(d, id_at(2)), "but not where no good one is left");
    dispatch_failed(d, id_at(2), 1, 1);
    ok(dispatch_left(d) < 100, "then it counts");
    dispatch_destroy(d);
}

static void test_certain(void)
{
    begin("static");
    dispatch_answered(d, id_at(0), 1, 1, 1);
    dispatch_failed(d, id_at(1), 1, 1);
    if (dispatch_feed(d, 1) < 0)
        bail("no memory");
    ok(dispatch_current(d, 0) && dispatch_current(d, 0)->failures == 1
           && !dispatch_doubts(d, id_at(0)),
       "what has failed before, at a node that has done something: not");
    ok(dispatch_doubts(d, id_at(2)), "of another node it is");
    dispatch_destroy(d);
}

/* Two nodes do frames of 40 units, 24 ms each.  Returns the seconds of the last 20
 * of 40 frames. */
static double seconds_of_frames(struct cost *c, double cpu)
{
    static double alike[2] = {50, 50};
    double last = 0;

    d = dispatch_create(2, 1, DISPATCH_BY_COST);
    if (!d)
        bail("no memory");
    dispatch_set_policy(d, kinds_find("even"), state, alike);
    dispatch_set_cost(d, c);
    for (int frame = 0; frame < 40; frame++) {
        double now = 0, ends[2] = {-1, -1}, took[2];

        if (dispatch_begin(d, (struct slice){0, 40}, NULL, 0) < 0)
            bail("no memory");
        while (dispatch_left(d) > 0) {
            size_t first;

            if (dispatch_feed(d, now) < 0)
                bail("no memory");
            for (size_t i = 0; i < 2; i++)
                if (ends[i] < 0 && dispatch_current(d, i)) {
                    struct slice units = dispatch_current(d, i)->units;

                    took[i] = 0.024 * (double)(units.end - units.begin);
                    ends[i] = now + took[i];
                }
            first = ends[1] >= 0 && (ends[0] < 0 || ends[1] < ends[0]);
            now = ends[first];
            ends[first] = -1;
            dispatch_answered(d, id_at(first), now, took[first],
                              cpu * took[first]);
        }
        last += frame < 20 ? 0 : now;
    }
    dispatch_destroy(d);
    return last;
}

/* By a run before, on a busy machine, a piece costs its start and no more: then nothing
 * is gained by two, and one node's pieces would say so again and again. */
static void test_shared(double cpu)
{
    const struct cost_terms start = {.burn = 0.9, .each = 1e-6};
    struct cost *c = cost_create(2, NULL);
    double seconds;

    if (!c)
        bail("no memory");
    cost_expect(c, &start, 1);
    seconds = seconds_of_frames(c, cpu);
    ok(seconds < 1.2 * 20 * 0.48,
       "that units cost nothing is not believed for long (%.2f s)", seconds);
    cost_destroy(c);
}

int main(void)
{
    test_shorten("static");
    test_shorten("even");
    test_idle();
    test_split("static");
    test_split("even");
    test_doubts();
    test_certain();
    test_shared(0);
    test_shared(0.98);
    return done();
}
