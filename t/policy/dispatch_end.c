/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing is begun that would not be back before the end. */
#include "policy/dispatch.h"
#include "policy/kinds.h"
#include "tap.h"

#define NODES 3

static double speed[NODES] = {10, 5, 1}; /* units a second */
static double load[NODES] = {50, 30, 20};
static struct dispatch *d;
static double state[64];

static void begin(uint64_t units, uint64_t grain, uint64_t pieces)
{
    const struct policy_kind *kind = kinds_find("static");

    d = dispatch_create(NODES, grain, pieces);
    if (!d || !kind)
        bail("no memory");
    dispatch_set_policy(d, kind, state, load);
    if (dispatch_begin(d, (struct slice){0, units}, NULL, 0) < 0)
        bail("no memory");
}

/* What is out comes back in the order of time, each at its node's speed, and
 * more is sent, until nothing is out.  Returns when that was; *late has how
 * long the last one was out behind the end. */
static double work(double now, double end, double *late)
{
    *late = 0;
    while (dispatch_feed(d, now) == 0) {
        const struct dispatch_piece *first = NULL;
        double first_back = INFINITY;

        while (dispatch_next(d))
            ;
        for (size_t i = 0; i < NODES; i++) {
            const struct dispatch_piece *p = dispatch_current(d, i);
            double back =
                p ? p->sent + (double)(p->units.end - p->units.begin) / speed[i]
                  : INFINITY;

            if (p && back < first_back) {
                first = p;
                first_back = back;
            }
        }
        if (!first)
            return now;
        now = fmax(now, first_back);
        *late = fmax(*late, now - end);
        dispatch_answered(d, first->id, now, first_back - first->sent, 0);
    }
    bail("no memory");
}

/* Units that are in pieces that are done, each once. */
static int all_once(uint64_t units)
{
    static char seen[100000];
    uint64_t units_done = 0;

    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < dispatch_pieces(d); i++) {
        const struct dispatch_piece *p = dispatch_piece(d, i);

        for (uint64_t k = p->units.begin; k < p->units.end; k++)
            if (p->state == PIECE_DONE && seen[k]++)
                return 0;
            else
                units_done += p->state == PIECE_DONE;
    }
    return units_done == units - dispatch_left(d);
}

static void test_end(void)
{
    double late, end;

    begin(10000, 1, 16);
    end = work(0, INFINITY, &late);
    is_int((intmax_t)dispatch_left(d), 0, "without an end all is done");
    dispatch_destroy(d);
    begin(10000, 1, 16);
    dispatch_set_end(d, end / 2);
    (void)work(0, end / 2, &late);
    ok(dispatch_left(d) > 3000 && dispatch_left(d) < 8000,
       "with half of that time some %ju of 10000 units are left",
       (uintmax_t)dispatch_left(d));
    ok(late <= 0, "and nothing is out behind the end");
    ok(all_once(10000), "each unit was done once, or is left");
    dispatch_set_end(d, INFINITY);
    (void)work(end / 2, INFINITY, &late);
    is_int((intmax_t)dispatch_left(d), 0, "when there is no end, it goes on");
    ok(all_once(10000), "and each unit was done once");
    dispatch_destroy(d);
}

static void test_grain(void)
{
    double late;
    int whole = 1;

    begin(1000, 7, 4);
    dispatch_set_end(d, 20);
    (void)work(0, 20, &late);
    for (size_t i = 0; i < dispatch_pieces(d); i++)
        whole &= dispatch_piece(d, i)->units.begin % 7 == 0;
    ok(dispatch_pieces(d) > 3 && whole, "pieces are cut at whole grains");
    ok(all_once(1000), "each unit was done once, or is left");
    dispatch_destroy(d);
}

static void test_over(void)
{
    double late;

    begin(100, 1, 4);
    dispatch_set_end(d, -1);
    (void)work(0, -1, &late);
    is_int((intmax_t)dispatch_pieces(d), 0, "an end before the frame's start");
    dispatch_set_end(d, 0);
    (void)work(0, 0, &late);
    is_int((intmax_t)dispatch_pieces(d), 0, "an end that is now");
    is_int((intmax_t)dispatch_left(d), 100, "all is left");
    dispatch_destroy(d);
}

int main(void)
{
    test_end();
    test_grain();
    test_over();
    return done();
}
