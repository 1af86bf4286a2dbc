/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric has done, is asked in the event loop: when its descriptor says
 * that there is something, else by a timer. */
#include "pmix_bcast/clock.h"
#include "pmix_bcast/fabric_state.h"

#include <sys/time.h>

#define TICK_MS 1   /* without a descriptor, or when something waits */
#define LOOK_MS 100 /* else: has something stalled? */
#define STALL_S 4.0 /* below the 10 s after which a node is given up */
#define WAIT_S  2.0 /* for the other end, see fabric.h */
#define READ    16u
#define TURNS   64u /* then others have a turn */

static void arrived(struct write *w)
{
    struct lane *l = w->lane;

    l->outstanding--;
    if (!l->wake) {
        if (l->outstanding == 0)
            lane_free(l);
        return;
    }
    if (l->has_failed)
        return; /* the link has sent it otherwise */
    w->has_arrived = 1;
    l->queued -= w->bytes;
    l->fabric->bytes += w->bytes;
    l->wake(l->arg);
}

/* One that has failed; or the queue itself. */
static int take_error(struct fabric *f)
{
    struct fi_cq_err_entry e = {0};
    struct write *w;
    struct lane *l;

    if (fi_cq_readerr(f->cq, &e, 0) < 0)
        return -1;
    w = e.op_context;
    if (!w) {
        fabric_note(f, "an operation failed", e.err);
        return 0;
    }
    l = w->lane;
    l->outstanding--;
    if (l->wake)
        lane_fail(l, "a write failed", e.err);
    else if (l->outstanding == 0)
        lane_free(l);
    return 0;
}

static void read_queue(struct fabric *f)
{
    struct fi_cq_entry e[READ];

    for (unsigned turn = 0; turn < TURNS; turn++) {
        ssize_t n = fi_cq_read(f->cq, e, READ);

        if (n == -FI_EAVAIL && take_error(f) == 0)
            continue;
        if (n <= 0)
            return;
        for (ssize_t i = 0; i < n; i++)
            if (e[i].op_context)
                arrived(e[i].op_context);
    }
}

static int waits(const struct lane *l)
{
    return l->wake && !l->has_failed && l->posted != l->filled;
}

static int does_any_wait(const struct fabric *f)
{
    for (const struct lane *l = f->lanes; l; l = l->next)
        if (waits(l))
            return 1;
    return 0;
}

/* The other end has none, or takes too long. */
static void settle(struct lane *l, double now)
{
    if (l->is_settled || now - l->since < WAIT_S)
        return;
    l->is_settled = 1;
    l->wake(l->arg);
}

static void look_for_stalled(struct fabric *f)
{
    double now = clock_s();

    for (struct lane *l = f->lanes; l; l = l->next) {
        if (l->wake)
            settle(l, now);
        for (uint32_t n = l->told; l->wake && n != l->filled; n++) {
            const struct write *w = &l->write[n % FABRIC_SLOTS_MAX];

            if (!w->has_arrived && now - w->since > STALL_S)
                lane_fail(l, "a write does not arrive", FI_ETIMEDOUT);
        }
    }
}

static void progress(struct fabric *f)
{
    struct fid *wait = &f->cq->fid;
    unsigned turn = 0;

    do {
        read_queue(f);
        for (struct lane *l = f->lanes; l; l = l->next)
            lane_post(l);
    } while (f->readable && ++turn < TURNS
             && fi_trywait(f->fabric, &wait, 1) == -FI_EAGAIN);
    if (turn == TURNS)
        fabric_soon(f);
}

static void start_timer(struct fabric *f)
{
    long ms = !f->readable || does_any_wait(f) ? TICK_MS : LOOK_MS;
    struct timeval tv = {0, ms * 1000};

    (void)event_add(f->timer, &tv);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct fabric *f = arg;

    (void)fd;
    (void)what;
    progress(f);
    if (does_any_wait(f))
        start_timer(f);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct fabric *f = arg;

    (void)fd;
    (void)what;
    progress(f);
    look_for_stalled(f);
    start_timer(f);
}

int fabric_progress_begin(struct fabric *f)
{
    int fd = -1;

    f->timer = evtimer_new(f->base, on_timer, f);
    if (!f->timer)
        return -1;
    if (fi_control(&f->cq->fid, FI_GETWAIT, &fd) == 0 && fd >= 0) {
        f->readable =
            event_new(f->base, fd, EV_READ | EV_PERSIST, on_readable, f);
        if (!f->readable || event_add(f->readable, NULL) < 0)
            return -1;
    }
    start_timer(f);
    return 0;
}

void fabric_progress_end(struct fabric *f)
{
    if (f->readable)
        event_free(f->readable);
    if (f->timer)
        event_free(f->timer);
    f->readable = f->timer = NULL;
}
