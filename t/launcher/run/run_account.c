/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run is held against, from frames whose pieces are made up: commands
 * that wait for 1 s and then do 10 or 20 units a second. */
#include "launcher/run/run_account.h"
#include "policy/kinds.h"

#include "fault.h"
#include "tap.h"

#define NODES 2
#define WAIT  1.0

static const double load[NODES] = {1, 1}, speed[NODES] = {10, 20};
static double value[POLICY_PARAMS];
static double cpus; /* that commands use; 0: not known */
static struct cost *cost;
static struct dispatch *d;

static void start(uint64_t pieces)
{
    const struct policy_kind *kind = kinds_find("static");

    cost = cost_create(NODES, NULL);
    d = dispatch_create(NODES, 1, pieces);
    if (!kind || !cost || !d)
        bail("no memory");
    policy_defaults(kind, value);
    dispatch_set_policy(d, kind, NULL, load);
    dispatch_set_cost(d, cost);
}

static void stop(void)
{
    dispatch_destroy(d);
    cost_destroy(cost);
}

static double seconds_of(const struct dispatch_piece *p)
{
    return WAIT + (double)(p->units.end - p->units.begin) / speed[p->node];
}

/* All pieces as they are handed out, whoever ends first; the frame's time. */
static double run_frame(uint64_t units)
{
    struct {
        uint64_t id;
        double back, seconds;
    } out[NODES * DISPATCH_OUT], *first;
    double free[NODES] = {0}, now = 0;
    const struct dispatch_piece *p;
    size_t n = 0;

    if (dispatch_begin(d, (struct slice){0, units}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
    while (dispatch_left(d) > 0) {
        while ((p = dispatch_next(d)) != NULL) {
            double from = fmax(free[p->node], now);

            free[p->node] = from + seconds_of(p);
            out[n].id = p->id;
            out[n].seconds = seconds_of(p);
            out[n++].back = free[p->node];
        }
        first = &out[0];
        for (size_t i = 1; i < n; i++)
            first = out[i].back < first->back ? &out[i] : first;
        now = first->back;
        dispatch_answered(d, first->id, now, first->seconds,
                          cpus * first->seconds);
        *first = out[--n];
        if (dispatch_left(d) > 0 && dispatch_feed(d, now) < 0)
            bail("no memory");
    }
    return now;
}

static double sum_of(const struct account_result *r)
{
    double sum = r->ideal;

    for (int i = 0; i < ACCOUNT_PARTS; i++)
        sum += r->part[i];
    return sum;
}

/* Equal parts of 300 units: 150 each, which take 16 s and 8.5 s; together they
 * do 30 units a second, so ideal is 11 s. */
static void equal_parts(void)
{
    struct run_account a;
    struct account_result r;
    double began = 0;

    start(1);
    if (run_account_begin(&a, NODES, cost, 0) < 0)
        bail("no memory");
    for (int i = 0; i < 4; i++) {
        double seconds = run_frame(i % 2 ? 300 : 150);

        run_account_frame(&a, d, began, seconds);
        is_near(a.last.time, seconds, 1e-9, "a frame's time");
        is_near(sum_of(&a.last), seconds, 1e-6, "is ideal and the rest");
        began += seconds + 0.5;
    }
    is_near(a.last.ideal, 11, 0.5, "ideal is that of all nodes together");
    is_near(a.last.equal, 16, 0.5, "equal parts are the slowest node's");
    is_near(account_efficiency(&a.last), 11.0 / 16, 0.03, "so half is waiting");
    is_near(run_account_start(&a, 0), WAIT, 0.2, "the start is known");
    r = run_account_sum(&a, began);
    is_near(r.time, began, 1e-9, "a run is as long as it was");
    is_near(sum_of(&r), began, 1e-6, "what lies between its frames as well");
    is_near(r.part[ACCOUNT_WAITING] - a.sum.part[ACCOUNT_WAITING], 2, 1e-6,
            "is waiting");
    run_account_clear(&a);
    stop();
}

static void one_cpu(void)
{
    static const struct {
        double cpus;
        int is_one;
    } table[] = {{0, 0}, {0.1, 0}, {0.9, 1}, {1.1, 1}, {2, 0}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct run_account a;

        cpus = table[i].cpus;
        start(1);
        if (run_account_begin(&a, NODES, cost, 0) < 0)
            bail("no memory");
        ok(!run_account_used_one_cpu(&a), "no frame, and nothing was used");
        run_account_frame(&a, d, 0, run_frame(150));
        is_int(run_account_used_one_cpu(&a), table[i].is_one,
               "commands that use one CPU are known");
        run_account_clear(&a);
        stop();
    }
    cpus = 0;
}

/* The same in pieces: each costs a start. */
static void repeated_starts(void)
{
    struct run_account a;

    start(8);
    if (run_account_begin(&a, NODES, cost, 0) < 0)
        bail("no memory");
    for (int i = 0; i < 4; i++)
        run_account_frame(&a, d, 0, run_frame(i % 2 ? 300 : 150));
    ok(a.last.part[ACCOUNT_RESTARTS] > 2, "in pieces: %.2f s of restarts",
       a.last.part[ACCOUNT_RESTARTS]);
    ok(account_efficiency(&a.last) < 0.9, "that are no work: efficiency %.3f",
       account_efficiency(&a.last));
    run_account_clear(&a);
    stop();
}

/* A node had half of 40 units for 2 s, and its costs are known: 3 s each node.
 * Then it is lost, or the piece is given up there, and the other one does all. */
static double half_in_vain(int is_lost)
{
    const struct dispatch_piece *p;
    uint64_t id[NODES] = {0};
    double seconds = WAIT + 20 / speed[0], back = 2 * seconds;

    if (dispatch_begin(d, (struct slice){0, 40}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
    while ((p = dispatch_next(d)) != NULL)
        id[p->node] = p->id;
    if (is_lost)
        dispatch_lost(d, 1, 2);
    else
        dispatch_cancel(d, id[1], 2);
    is_near(dispatch_piece(d, id[1] - id[0])->back, 2, 0,
            "what is in vain was out until then");
    is_near(dispatch_piece(d, id[1] - id[0])->seconds, 2, 0,
            "and ran for as long");
    dispatch_retire(d, 1, 2);
    dispatch_answered(d, id[0], seconds, seconds, 0);
    if (dispatch_feed(d, seconds) < 0)
        bail("no memory");
    p = dispatch_next(d);
    dispatch_answered(d, p->id, back, seconds, 0);
    return back;
}

static void in_vain(void)
{
    static const char *const what[] = {"given up", "lost with its node"};
    static const struct cost_terms terms = {.wait = WAIT, .each = 0.1};
    struct run_account a, overlapping;

    for (int is_lost = 0; is_lost <= 1; is_lost++) {
        struct account_result r;
        double seconds;

        start(1);
        cost_expect(cost, &terms, 0);
        if (run_account_begin(&a, NODES, cost, 0) < 0
            || run_account_begin(&overlapping, NODES, cost, 1) < 0)
            bail("no memory");
        seconds = half_in_vain(is_lost);
        run_account_frame(&a, d, 0, seconds);
        run_account_frame(&overlapping, d, 0, seconds);
        ok(a.last.ideal < 0.55 * seconds && a.last.equal < 0.55 * seconds,
           "%s: that node counts, ideal %.2f s, equal parts %.2f s of %.2f s",
           what[is_lost], a.last.ideal, a.last.equal, seconds);
        is_near(a.last.part[ACCOUNT_TWICE], 1, 0.1, "its time was for nothing");
        is_near(sum_of(&a.last), seconds, 1e-6, "it adds up");
        seconds = run_frame(40);
        run_account_frame(&overlapping, d, 6, seconds);
        r = run_account_sum(&overlapping, 6 + seconds);
        ok(r.part[ACCOUNT_TWICE] > 0.9,
           "a run with frames ahead tells it, too: %.2f s",
           r.part[ACCOUNT_TWICE]);
        run_account_clear(&overlapping);
        run_account_clear(&a);
        stop();
    }
}

/* Frames that overlap: the second began before the first had ended. */
static void ahead(void)
{
    struct run_account a;
    struct account_result r;
    double seconds, equal;

    start(1);
    if (run_account_begin(&a, NODES, cost, 1) < 0)
        bail("no memory");
    seconds = run_frame(300);
    run_account_frame(&a, d, 0, seconds);
    equal = a.last.equal;
    seconds = run_frame(300);
    run_account_frame(&a, d, 10, seconds);
    is_near(a.last.time, fmax(10, a.last.ideal), 1e-6,
            "a frame's time is that since the end of the one before");
    ok(account_efficiency(&a.last) <= 1, "and no frame is better than ideal");
    r = run_account_sum(&a, 10 + seconds);
    ok(r.time == 10 + seconds, "a run has an account of its own");
    is_near(r.equal, equal + a.last.equal, 1e-9,
            "but equal parts, which are done frame by frame");
    seconds += 10;
    run_account_frame(&a, d, 40, 16);
    r = run_account_sum(&a, 0);
    is_near(r.time, seconds + 16, 1e-6,
            "a queue's is as long as frames are at work, each second once");
    ok(r.ideal > 20 && r.ideal < r.time && sum_of(&r) > 0.99 * r.time,
       "of which %.1f s of %.1f are ideal", r.ideal, r.time);
    run_account_frame(&a, d, 50, 2);
    is_near(run_account_sum(&a, 0).time, seconds + 16, 1e-6,
            "a frame that was done before the one before it takes none");
    run_account_frame(&a, d, 55, 1);
    is_near(run_account_sum(&a, 0).time, seconds + 16, 1e-6,
            "and the next counts from when both were done");
    run_account_clear(&a);
    stop();
}

static void no_memory(void)
{
    struct run_account a;
    long wrong = 0;

    start(1);
    for (fault_at = 0;; wrong++) {
        long at = fault_at;
        int rc = run_account_begin(&a, NODES, cost, 1);

        fault_at = -1;
        if (rc == 0)
            break;
        fault_at = at + 1;
    }
    fault_at = -1;
    ok(wrong >= 4, "without memory nothing is begun, %ld times", wrong);
    is_near(run_account_sum(&a, 3).part[ACCOUNT_WAITING], 3, 0,
            "without a frame all is waiting");
    run_account_clear(&a);
    stop();
}

int main(void)
{
    equal_parts();
    one_cpu();
    repeated_starts();
    in_vain();
    ahead();
    no_memory();
    return done();
}
