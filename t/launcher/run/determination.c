/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame is weighed of whose pieces all times are given.  The session is
 * one of this test: who is present, and no more.
 */
#include "launcher/run/determination.h"
#include "fault.h"
#include "tap.h"

#define NODES 4

struct session {
    struct node node[NODES];
};

size_t session_size(const struct session *s)
{
    (void)s;
    return NODES;
}

const struct node *session_node(const struct session *s, size_t node)
{
    return &s->node[node];
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    (void)s;
    (void)node;
    (void)type;
    writer_clear(w);
}

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
    double first, last, efficiency;
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

/* The frame i into d, whose pieces are p and nodes' parts share. */
static void set_up(size_t i,
                   struct session *s,
                   struct distribution *d,
                   struct piece p[],
                   struct share share[])
{
    uint64_t at = 0;

    memset(s, 0, sizeof *s);
    memset(d, 0, sizeof *d);
    memset(p, 0, 8 * sizeof *p);
    memset(share, 0, NODES * sizeof *share);
    d->session = s;
    d->grain = 1;
    d->piece = p;
    d->share = share;
    for (size_t k = 0; k < NODES; k++)
        s->node[k].present = !frames[i].gone[k];
    for (size_t k = 0; k < 8 && frames[i].piece[k].units; k++) {
        const struct done *from = &frames[i].piece[k];

        p[k].node = from->node;
        p[k].slice = (struct slice){at, at + from->units};
        p[k].seconds = from->seconds;
        p[k].back = from->back;
        p[k].state = from->state;
        p[k].attempt = from->attempt;
        at += from->units;
        d->n++;
        if (from->attempt == 1)
            share[from->node].slice += from->units;
        if (from->state == PIECE_DONE)
            share[from->node].done += from->units;
    }
}

static void test_frames(void)
{
    struct session s;
    struct distribution d;
    struct piece p[8];
    struct share share[NODES];
    struct determination t;

    if (determination_init(&t, NODES) < 0)
        bail("no memory");
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        set_up(i, &s, &d, p, share);
        determination_weigh(&t, &d, &frames[i].threshold);
        ok(t.over == frames[i].over, "%s", frames[i].name);
        is_near(t.first, frames[i].first, 0, "  its first response");
        is_near(t.last, frames[i].last, 0, "  its last response");
        is_near(t.efficiency, frames[i].efficiency, 1e-15, "  its efficiency");
    }
    determination_clear(&t);
}

/* What the policy hears of the frame in which node 1 was lost. */
static void test_policy_hears(void)
{
    struct session s;
    struct distribution d;
    struct piece p[8];
    struct share share[NODES];
    struct determination t;

    if (determination_init(&t, NODES) < 0)
        bail("no memory");
    set_up(0, &s, &d, p, share); /* so that something of before might stay */
    determination_weigh(&t, &d, &frames[0].threshold);
    set_up(7, &s, &d, p, share);
    determination_weigh(&t, &d, &frames[7].threshold);
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
    is_int(n, 3, "there are two");
    determination_clear(&t);
    ok(!t.completion && !t.back, "a determination may be cleared");
    determination_clear(&t);
    ok(1, "and again");
}

int main(void)
{
    test_frames();
    test_policy_hears();
    test_no_memory();
    return done();
}
