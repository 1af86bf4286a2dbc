/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/estimator.h"
#include "tap.h"

#define START 100.0 /* of the caller's clock */
#define SLOT  2.0
#define CHUNK 3u
#define NODE  5u

static struct plan plan;

static struct estimator fresh(double slot)
{
    struct estimator e;

    estimator_init(&e, &plan, START, slot);
    return e;
}

/* The time from which on answer() is yes, up to a million seconds. */
static double since(
    int (*answer)(const struct estimator *, uint32_t, uint32_t, double),
    const struct estimator *e)
{
    double no = 0, yes = 1e6;

    if (answer(e, NODE, CHUNK, no) || !answer(e, NODE, CHUNK, yes))
        return -1;
    for (int i = 0; i < 60; i++) {
        double middle = (no + yes) / 2;

        if (answer(e, NODE, CHUNK, middle))
            yes = middle;
        else
            no = middle;
    }
    return yes;
}

static double slots(uint32_t node, uint32_t chunk)
{
    return (double)plan_slots(&plan, node, chunk);
}

static void test_unknown(void)
{
    struct estimator e = fresh(0);
    int any = 0;

    for (uint32_t v = 0; v < plan.nodes; v++)
        for (uint32_t j = 0; j < plan.chunks; j++)
            any |=
                estimator_holds(&e, v, j, 1e9) || estimator_late(&e, v, j, 1e9);
    is_int(any, 0, "before anything has come nothing is held, nor late");
    estimator_refused(&e, START);
    is_int(estimator_holds(&e, NODE, CHUNK, 1e9), 0,
           "nor after a refusal without a slope");
}

/* As in CN 102486739: (i + j) × s / g after the start. */
static void test_known(void)
{
    struct estimator e = fresh(SLOT);
    double due = START + SLOT * slots(NODE, CHUNK);

    is_near(since(estimator_holds, &e), due, 1e-6,
            "with a slope a node holds a chunk from its slots on");
    is_near(since(estimator_late, &e), due + SLOT * (4 * plan.branches + 8),
            1e-6, "and is late 4 slots a branch and 8 after that");
}

static void test_slope(void)
{
    struct estimator e = fresh(0);
    double s = slots(1, 4), early = slots(1, 0);

    estimator_saw(&e, 1, 4, START + 3 * s);
    is_near(since(estimator_holds, &e), START + 3 * slots(NODE, CHUNK), 1e-6,
            "a chunk that comes tells the slope");
    ok(early < s, "an earlier one");
    estimator_saw(&e, 1, 0, START + 50 * s);
    is_near(since(estimator_holds, &e), START + 3 * slots(NODE, CHUNK), 1e-6,
            "does not move it, whenever it comes");
    estimator_saw(&e, 1, 8, START + 7 * slots(1, 8));
    is_near(since(estimator_holds, &e), START + 7 * slots(NODE, CHUNK), 1e-6,
            "a later one does");
    e = fresh(SLOT);
    estimator_saw(&e, 1, 4, START);
    is_near(since(estimator_holds, &e), START + SLOT * slots(NODE, CHUNK), 1e-6,
            "none comes in no time");
}

/* A correction of 0.25 slots each, and a silence that doubles. */
static void test_refusals(void)
{
    static const double silence[] = {0.25, 0.5, 1, 2, 4, 8, 8, 8};
    struct estimator e = fresh(SLOT);
    double due = START + SLOT * slots(NODE, CHUNK), late;
    int wrong = 0;

    late = since(estimator_late, &e);
    for (int i = 0; i < 8; i++) {
        double now = due + 1000 * i;

        estimator_refused(&e, now);
        wrong +=
            fabs(since(estimator_holds, &e) - now - SLOT * silence[i]) > 1e-6;
    }
    is_int(wrong, 0,
           "each refusal in a row silences twice as long, to 8 slots");
    is_near(since(estimator_late, &e), late + 8 * 0.25 * SLOT, 1e-6,
            "each puts all times off by a quarter of a slot");
    estimator_confirmed(&e);
    is_near(since(estimator_holds, &e), due + 8 * 0.25 * SLOT, 1e-6,
            "a confirmation ends the silence, not the correction");
    estimator_refused(&e, due + 10000);
    is_near(since(estimator_holds, &e), due + 10000 + 0.25 * SLOT, 1e-6,
            "and the next silence is a short one again");
    estimator_confirmed(&e);
    estimator_saw(&e, NODE, CHUNK, START + SLOT * slots(NODE, CHUNK));
    is_near(since(estimator_holds, &e), due, 1e-6,
            "a chunk that comes has the correction in its slope");
}

static void test_missed(void)
{
    struct estimator e = fresh(0);
    double late = START + 5;

    estimator_missed(&e, NODE, CHUNK, late);
    ok(since(estimator_late, &e) < late,
       "what is missed counts as late, before anything has come");
    e = fresh(SLOT);
    estimator_refused(&e, START + 1);
    estimator_missed(&e, NODE, CHUNK, late);
    ok(since(estimator_late, &e) < late && since(estimator_holds, &e) < late,
       "and so it does where chunks took longer");
    e = fresh(SLOT / 1000);
    late = since(estimator_late, &e);
    estimator_missed(&e, NODE, CHUNK, START + 5);
    is_near(since(estimator_late, &e), late, 1e-6,
            "what was late before stays so");
}

int main(void)
{
    struct plan_wish w = {1 << 20, 20, 4, 1 << 14, PLAN_BRANCHES};

    if (plan_make(&plan, &w, NULL) < 0)
        bail("no plan");
    test_unknown();
    test_known();
    test_slope();
    test_refusals();
    test_missed();
    return done();
}
