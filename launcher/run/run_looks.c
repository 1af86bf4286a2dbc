/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_looks.h"
#include "launcher/run/run_failures.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_limit.h"

#include <event2/event.h>

/* How often a look is taken at who is late: what a run of milliseconds can
 * lose by it is little, and so is what it costs. */
#define LOOK_MS 50

#define TIMED_OUT 124 /* exit status, as of timeout(1) */

static int is_late(void *arg, size_t node)
{
    const struct run *r = arg;

    return standstill_is_late(r->standstill, node);
}

/* Where others run beside it, or where the run goes on whatever fails, a command
 * that hangs is ended alone. */
static int ends_alone(const struct run *r, size_t node)
{
    int goes_on = r->o->keep_going > 0 || r->o->bisect;

    return slots_of(&r->slots, node) > 1 || (goes_on && !r->o->persistent);
}

/* Else its node is cut off, which ends it, and may return. */
static int end_overdue(struct run *r)
{
    struct piece *p;
    size_t node;

    while ((p = distribution_overdue(r->distribution,
                                     (int64_t)(r->o->timeout_s * 1e9),
                                     TIMED_OUT, is_late, r))
           != NULL) {
        if (run_failures_late(r, p) < 0)
            return -1;
        node = r->slots.node[p->part.node];
        if (ends_alone(r, node)) {
            distribution_cancel(r->distribution, p);
            continue;
        }
        r->overdue[node] = 1;
        session_drop(r->front.session, node);
    }
    return 0;
}

static void on_look(int fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if ((r->phase == LOADING || r->phase == ENDING) && r->o->timeout_s > 0)
        programs_drop_late(&r->programs, (int64_t)(r->o->timeout_s * 1e9),
                           r->standstill, r->overdue);
    run_power_look(&r->power);
    if (r->phase == WORKING)
        run_top_look(&r->top, r->distribution, r->front.session, &r->meter,
                     &r->power, &r->energy, &r->progress);
    if (r->phase != WORKING || distribution_open(r->distribution) == 0) {
        run_limit_look(r);
        return;
    }
    progress_look(&r->progress, r->distribution);
    if ((r->o->timeout_s > 0 && end_overdue(r) < 0)
        || run_meter_look(&r->meter, r->err) < 0)
        run_finish(r, 1);
    else
        run_frames_feed(r);
    run_limit_look(r);
}

static void on_soon(int fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if (r->phase == WORKING && distribution_open(r->distribution) > 0)
        run_frames_feed(r);
}

int run_looks_start(struct run *r)
{
    struct timeval period = {0, LOOK_MS * 1000};

    r->look = event_new(r->front.base, -1, EV_PERSIST, on_look, r);
    r->soon = evtimer_new(r->front.base, on_soon, r);
    return r->look && r->soon && event_add(r->look, &period) == 0 ? 0 : -1;
}

void run_looks_stop(struct run *r)
{
    if (r->look)
        event_free(r->look);
    if (r->soon)
        event_free(r->soon);
}

void run_looks_soon(struct run *r)
{
    int64_t ns = distribution_gap_ns(r->distribution);
    struct timeval gap = {ns / 1000000000, ns % 1000000000 / 1000};

    if (!event_pending(r->soon, EV_TIMEOUT, NULL))
        (void)event_add(r->soon, &gap); /* else on_look() does it */
}
