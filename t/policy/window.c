/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames at work side by side: which a node gets something of, and when another
 * one is to begin. */
#include "policy/window.h"
#include "policy/kinds.h"
#include "tap.h"

#define NODES  2
#define PLACES 3

static double load[NODES] = {50, 50};
static struct dispatch *dispatch[PLACES];
static struct window_frame frame[PLACES];
static struct window w;
static struct cost *cost;
static double state[64];
/* What was sent last of each place. */
static struct dispatch_piece last[PLACES];
static int sent[PLACES], fails;

static int send(void *arg, size_t place, int fed)
{
    const struct dispatch_piece *p;

    (void)arg;
    if (fed < 0 || fails)
        return -1;
    while ((p = dispatch_next(dispatch[place])) != NULL) {
        last[place] = *p;
        sent[place]++;
    }
    return 0;
}

static const struct window_sender to = {send, NULL};

/* pieces: that a slice is sent in, so nothing is cut as one; or by cost. */
static void begin(uint64_t pieces, size_t places)
{
    cost = cost_create(NODES, NULL);
    for (size_t k = 0; k < PLACES; k++) {
        dispatch[k] = dispatch_create(NODES, 1, pieces);
        if (!dispatch[k] || !cost)
            bail("no memory");
        dispatch_number(dispatch[k], (uint64_t)k << 56);
        dispatch_set_policy(dispatch[k], kinds_find("even"), state, load);
        dispatch_set_cost(dispatch[k], cost);
        sent[k] = 0;
    }
    window_init(&w, frame, places, NODES);
}

static void end(void)
{
    for (size_t k = 0; k < PLACES; k++)
        dispatch_destroy(dispatch[k]);
    cost_destroy(cost);
}

static int add(double now, int is_followed)
{
    size_t place = window_place(&w, w.n);
    struct window_frame f = {.dispatch = dispatch[place], .start = now};
    int is_begun;

    is_int((intmax_t)window_add(&w, &f, is_followed), (intmax_t)place,
           "a frame stands where the next one is to");
    return window_begin(&w, (struct slice){0, 100}, NULL, 0, &is_begun, &to);
}

/* The piece that was sent last of a place is back. */
static void answer(size_t place, double now)
{
    struct dispatch_piece p = last[place];

    dispatch_answered(dispatch[place], p.id, now - frame[place].start,
                      now - frame[place].start - p.sent, 0);
    if (window_feed_node(&w, p.node, now, &to) < 0)
        bail("cannot feed");
}

static void test_ahead(void)
{
    begin(1, 2);
    ok(window_wants_frame(&w) && window_open(&w) == 0,
       "there is room at first");
    ok(add(0, 1) == 0 && sent[0] == 2 && !window_wants_frame(&w),
       "both nodes have their slices, nobody wants more");
    answer(0, 1);
    ok(window_wants_frame(&w), "who has nothing left wants another frame");
    ok(add(1, 0) == 0 && sent[1] == 1 && last[1].node == last[0].node
           && window_node_out(&w, last[1].node) == 1
           && window_node_out(&w, 1 - last[1].node) == 1,
       "and gets its slice of that one, the other one not yet");
    ok(window_working_at(&w, last[1].node) == &frame[1]
           && window_working_at(&w, 1 - last[1].node) == &frame[0],
       "each is known to work at its own");
    answer(1, 2);
    ok(!window_wants_frame(&w) && sent[1] == 2,
       "with no place left it helps: it takes what waits for the other");
    ok(!window_is_done(&w), "the first one is not done");
    end();
}

static void test_come_out(void)
{
    begin(1, 2);
    load[1] = 0; /* one node does all */
    ok(add(0, 1) == 0 && sent[0] == 1, "a frame of one node");
    answer(0, 1);
    ok(window_is_done(&w) && window_close(&w) == 0 && window_open(&w) == 0
           && window_is_full(&w) && window_nth(&w, 0) == &frame[0],
       "the only one comes out, and stays to be looked at");
    window_forget_first(&w);
    ok(add(1, 0) == 0 && sent[1] == 1, "the next one has another place");
    w.wants_frame = 1;
    ok(window_no_frame(&w, 1, &to) == 0 && !window_wants_frame(&w),
       "there is none: nobody asks again ...");
    ok(window_ask(&w, 1, &to) == 0, "... until there may be one");
    ok(add(1, 0) == 0, "one ahead");
    answer(1, 2);
    ok(window_is_done(&w) && window_close(&w) == 1 && window_open(&w) == 1
           && window_nth(&w, 0) == &frame[0],
       "the first of two comes out, and the next one is the first");
    load[1] = 50;
    end();
}

static void test_kept(void)
{
    begin(1, 2);
    (void)window_add(
        &w, &(struct window_frame){.dispatch = dispatch[0], .is_kept = 1}, 1);
    ok(window_is_done(&w), "one that a run before has done is done");
    end();
}

static void test_joined(void)
{
    static const struct cost_terms terms = {.wait = 1, .burn = 1, .each = 0.1};

    begin(DISPATCH_BY_COST, 3);
    cost_expect(cost, &terms, 0.02);
    ok(add(0, 1) == 0 && sent[0] == 0 && window_wants_frame(&w),
       "as costs are known nothing is cut before all that have room are there");
    ok(add(0, 1) == 0 && sent[1] == 0, "nor with two");
    ok(add(0, 0) == 0 && sent[0] + sent[1] + sent[2] == 2,
       "with three a piece goes to each node: all are cut as one");
    end();
}

static uint64_t units_of_last(void)
{
    return last[0].units.end - last[0].units.begin;
}

/* Ten seconds of work for one node, and the other was to be there a second before
 * it begins. */
static void begin_awaited(double awaited[NODES])
{
    static const struct cost_terms terms = {.wait = 1, .each = 0.1};

    begin(DISPATCH_BY_COST, 1);
    cost_expect(cost, &terms, 0.02);
    awaited[0] = 0;
    awaited[1] = 99;
    w.awaited = awaited;
    ok(add(100, 0) == 0 && sent[0] == 1 && last[0].node == 0,
       "a node that is yet to come gets nothing");
}

static void test_awaited(void)
{
    double awaited[NODES], now = 100;

    begin_awaited(awaited);
    ok(units_of_last() >= 20 && units_of_last() <= 40,
       "and the other one not its part: %ju units", (uintmax_t)units_of_last());
    dispatch_returned(dispatch[0], 1);
    w.awaited = NULL;
    ok(window_feed(&w, 101, &to) == 0 && sent[0] == 2 && last[0].node == 1
           && units_of_last() >= 20,
       "when it is here it gets that: %ju units", (uintmax_t)units_of_last());
    end();

    begin_awaited(awaited);
    while (dispatch_left(dispatch[0]) > 0 && sent[0] < 20) {
        now += 1 + 0.1 * (double)units_of_last();
        answer(0, now);
    }
    ok(dispatch_left(dispatch[0]) == 0 && sent[0] <= 5 && now < 116,
       "if it never comes the other does all, in %d pieces", sent[0]);
    end();
}

static void test_failure(void)
{
    begin(1, 2);
    fails = 1;
    is_int(add(0, 0), -1, "what cannot be sent ends the feeding");
    fails = 0;
    end();
}

int main(void)
{
    test_ahead();
    test_come_out();
    test_kept();
    test_joined();
    test_awaited();
    test_failure();
    return done();
}
