/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame is weighed of whose pieces all times are given; the dispatcher is the
 * real one, which sends a slice in one piece.
 */
#include "policy/determination.h"
#include "fault.h"
#include "policy/static.h"
#include "tap.h"

#define NODES 4

struct done { /* a piece; the list ends where units are 0 */
    size_t node;
    uint64_t units;
    double seconds, back;
    enum piece_state state;
    unsigned attempt;
};

static const struct {
    const char *name;
    int gone[NODES];
    struct done piece[8];
    struct threshold_rule threshold;
    double first, last, busy;
    int over;
} frames[] = {
    {"all at once",
     {0},
     {{0, 10, 2, 2, PIECE_DONE, 1},
      {1, 10, 2, 2, PIECE_DONE, 1},
      {2, 10, 2, 2, PIECE_DONE, 1},
      {3, 10, 2, 2, PIECE_DONE, 1}},
     {THRESHOLD_SECONDS, 0},
     2,
     2,
     1,
     0},
    {"a difference of just the threshold is not over it",
     {0},
     {{0, 10, 1, 1, PIECE_DONE, 1},
      {1, 10, 1, 1.5, PIECE_DONE, 1},
      {2, 10, 1, 1.25, PIECE_DONE, 1},
      {3, 10, 1, 1, PIECE_DONE, 1}},
     {THRESHOLD_SECONDS, 0.5},
     1,
     1.5,
     4 / 6.0,
     0},
    {"a little more is",
     {0},
     {{0, 10, 1, 1, PIECE_DONE, 1},
      {1, 10, 1, 1.5, PIECE_DONE, 1},
      {2, 10, 1, 1.25, PIECE_DONE, 1},
      {3, 10, 1, 1, PIECE_DONE, 1}},
     {THRESHOLD_SECONDS, 0.49},
     1,
     1.5,
     4 / 6.0,
     1},
    {"percent are of the mean of the nodes' last responses",
     {0},
     {{0, 10, 1, 1, PIECE_DONE, 1},
      {1, 10, 2, 2, PIECE_DONE, 1},
      {2, 10, 2, 2, PIECE_DONE, 1},
      {3, 10, 3, 3, PIECE_DONE, 1}},
     {THRESHOLD_PERCENT, 100}, /* 100 % of 2 s: 2 s is not over */
     1,
     3,
     8 / 12.0,
     0},
    {"one percent less is over",
     {0},
     {{0, 10, 1, 1, PIECE_DONE, 1},
      {1, 10, 2, 2, PIECE_DONE, 1},
      {2, 10, 2, 2, PIECE_DONE, 1},
      {3, 10, 3, 3, PIECE_DONE, 1}},
     {THRESHOLD_PERCENT, 99},
     1,
     3,
     8 / 12.0,
     1},
    {"a node without a slice is neither first nor last, but idle",
     {0},
     {{1, 10, 2, 2, PIECE_DONE, 1}, {2, 10, 2, 2, PIECE_DONE, 1}},
     {THRESHOLD_SECONDS, 0},
     2,
     2,
     0.5,
     0},
    {"a node alone is first and last",
     {0},
     {{3, 10, 2, 2, PIECE_DONE, 1}},
     {THRESHOLD_PERCENT, 0},
     2,
     2,
     0.25,
     0},
    {"a node that was lost with its slice does not divide",
     {0, 1, 0, 0},
     {{0, 10, 2, 2, PIECE_DONE, 1},
      {1, 10, 0, 0, PIECE_VOID, 1},
      {2, 10, 2, 2, PIECE_DONE, 1},
      {3, 5, 2, 2, PIECE_DONE, 1},
      {3, 10, 2, 4, PIECE_DONE, 2}},
     {THRESHOLD_SECONDS, 1},
     2,
     4,
     8 / 12.0,
     0},
    {"one that left after its slice does",
     {1, 0, 0, 0},
     {{0, 10, 2, 2, PIECE_DONE, 1},
      {1, 10, 2, 2, PIECE_DONE, 1},
      {2, 10, 2, 2, PIECE_DONE, 1},
      {3, 10, 2, 2, PIECE_DONE, 1}},
     {THRESHOLD_SECONDS, 0},
     2,
     2,
     1,
     0},
    {"a frame of nothing is perfect",
     {0},
     {{0}},
     {THRESHOLD_PERCENT, 0},
     0,
     0,
     1,
     0},
};

static double load[NODES];

/* Nobody but node 3 takes what a lost node leaves. */
static void lose(struct dispatch *d, size_t node)
{
    for (size_t i = 0; i < 3; i++)
        load[i] = 0;
    dispatch_lost(d, node, 0);
}

static void happen(struct dispatch *d, const struct done *p)
{
    const struct dispatch_piece *piece = dispatch_current(d, p->node);

    if (!piece || piece->units.end - piece->units.begin != p->units
        || piece->attempt != p->attempt)
        bail("node %zu has another piece", p->node);
    if (p->state == PIECE_VOID)
        lose(d, p->node);
    else
        dispatch_answered(d, piece->id, p->back, p->seconds, 0);
    if (dispatch_feed(d, p->back) < 0)
        bail("nobody is fed");
}

/* The frame i, done. */
static struct dispatch *frame_done(size_t i)
{
    struct dispatch *d = dispatch_create(NODES, 1, 1);
    struct slice frame = {0, 0}, first = {0, 1};
    size_t n_done = 0;

    if (!d)
        bail("no memory");
    memset(load, 0, sizeof load);
    for (const struct done *p = frames[i].piece; p->units > 0; p++)
        if (p->attempt == 1) {
            load[p->node] = (double)p->units;
            frame.end += p->units;
        }
    if (frame.end == 0) { /* a run before has done its one unit */
        frame.end = n_done = 1;
        load[0] = 1;
    }
    dispatch_set_policy(d, &static_kind, NULL, load);
    if (dispatch_begin(d, frame, &first, n_done) < 0 || dispatch_feed(d, 0) < 0)
        bail("cannot begin");
    for (const struct done *p = frames[i].piece; p->units > 0; p++)
        happen(d, p);
    for (size_t k = 0; k < NODES; k++)
        if (frames[i].gone[k] && dispatch_may_send(d, k))
            dispatch_lost(d, k, frames[i].last);
    return d;
}

static void test_frames(void)
{
    struct determination t;
    struct dispatch *d;

    if (determination_init(&t, NODES) < 0)
        bail("no memory");
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        d = frame_done(i);
        determination_weigh(&t, d, &frames[i].threshold);
        dispatch_destroy(d);
        ok(t.over == frames[i].over, "%s", frames[i].name);
        is_near(t.first, frames[i].first, 0, "  its first response");
        is_near(t.last, frames[i].last, 0, "  its last response");
        is_near(t.busy, frames[i].busy, 1e-15, "  its busy");
    }
    determination_clear(&t);
}

/* What the policy hears of the frame in which node 1 was lost. */
static void test_policy_hears(void)
{
    struct determination t;
    struct dispatch *d;

    if (determination_init(&t, NODES) < 0)
        bail("no memory");
    d = frame_done(0); /* so that something of before might stay */
    determination_weigh(&t, d, &frames[0].threshold);
    dispatch_destroy(d);
    d = frame_done(7);
    determination_weigh(&t, d, &frames[7].threshold);
    dispatch_destroy(d);
    ok(t.completion[0].units == 10 && t.completion[0].seconds == 2
           && t.completion[0].presence == PRESENCE_PRESENT,
       "the policy hears of a node's own slice");
    ok(t.completion[1].units == 0 && t.completion[1].presence == PRESENCE_GONE
           && t.back[1] == 0,
       "of a lost node that it has gone, and no units");
    is_int((intmax_t)t.completion[3].units, 5,
           "of one that took over its own slice");
    is_near(t.completion[3].seconds, 4 / 3.0, 1e-15,
            "and the time that it alone would have taken");
    is_near(t.back[3], 4, 0, "but its last response is that of all it did");
    determination_clear(&t);
}

/* A frame that was begun ahead, of which a node began its part later. */
static void test_ahead(void)
{
    static const double half[NODES] = {5, 5};
    const struct threshold_rule rule = {THRESHOLD_SECONDS, 0};
    struct dispatch *d = dispatch_create(NODES, 1, 1);
    struct determination t;

    if (!d || determination_init(&t, NODES) < 0)
        bail("no memory");
    dispatch_set_policy(d, &static_kind, NULL, half);
    if (dispatch_begin(d, (struct slice){0, 10}, NULL, 0) < 0)
        bail("cannot begin");
    dispatch_elsewhere(d, 1, 1, 3);
    if (dispatch_hand_all(d, 0) < 0 || dispatch_hand(d, 1, 1) < 0)
        bail("cannot feed");
    is_int((intmax_t)dispatch_pieces(d), 1,
           "a node that works at another frame gets nothing yet");
    dispatch_elsewhere(d, 1, 0, 3);
    if (dispatch_hand(d, 1, 3) < 0)
        bail("cannot feed");
    dispatch_answered(d, dispatch_current(d, 0)->id, 2, 2, 0);
    dispatch_answered(d, dispatch_current(d, 1)->id, 5, 2, 0);
    determination_weigh(&t, d, &rule);
    ok(t.completion[0].seconds == 2 && t.completion[1].seconds == 2 && !t.over,
       "its time counts from when it began, so both are as fast");
    ok(t.first == 2 && t.last == 5, "the frame's from when the first one did");
    dispatch_destroy(d);
    determination_clear(&t);
}

/* One that finishes its last piece gets no slice of the next frame. */
static void test_leaving(void)
{
    const struct threshold_rule rule = {THRESHOLD_SECONDS, 0};
    struct determination t;
    struct dispatch *d;

    if (determination_init(&t, NODES) < 0)
        bail("no memory");
    d = frame_done(0);
    dispatch_retire(d, 2, 2);
    determination_weigh(&t, d, &rule);
    ok(t.completion[2].presence == PRESENCE_GONE && t.completion[2].units == 10,
       "of one that leaves the policy hears that it has gone, and its slice");
    is_near(t.busy, 1, 0, "the busy is of all that worked");
    dispatch_destroy(d);
    determination_clear(&t);
}

static void test_no_memory(void)
{
    struct determination t;
    long n;
    int rc = -1;

    for (n = 0; rc < 0 && n < 10; n++) {
        fault_at = n;
        rc = determination_init(&t, NODES);
        fault_at = -1;
        if (rc < 0)
            ok(!t.completion && !t.back && t.n == 0,
               "allocation %ld fails and nothing is kept", n);
    }
    is_int(n, 4, "there are three");
    determination_clear(&t);
    ok(!t.completion && !t.back, "a determination may be cleared");
    determination_clear(&t);
    ok(1, "and again");
}

int main(void)
{
    test_frames();
    test_policy_hears();
    test_leaving();
    test_ahead();
    test_no_memory();
    return done();
}
