/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/meter_window.h"

#include <math.h>

/* In samples of 10 ms a speed is known to half a percent by then. */
#define ENOUGH_NS 1000000000.0
/* A region is long that takes this, at the speed seen. */
#define LONG_NS 2000000000.0
/* Within a long region of ranks: CPU limits have periods of 10 to 100 ms. */
#define PART_NS 750000000.0

void meter_window_clear(struct meter_window *w)
{
    w->has_first = 0;
}

int meter_window_add(struct meter_window *w, const struct msg_progress *m)
{
    w->last = *m;
    if (w->has_first && m->epoch == w->first.epoch
        && m->progress >= w->first.progress && m->work_ns >= w->first.work_ns
        && m->done_ns >= w->first.done_ns
        && (m->done_ns > 0) == (w->first.done_ns > 0))
        return 0;
    w->first = *m;
    w->has_first = 1;
    return 1;
}

static double regions(const struct meter_window *w)
{
    return w->last.progress - w->first.progress;
}

static double work_ns(const struct meter_window *w)
{
    return (double)w->last.work_ns - (double)w->first.work_ns;
}

static double done_ns(const struct meter_window *w)
{
    return (double)w->last.done_ns - (double)w->first.done_ns;
}

int meter_window_is_enough(const struct meter_window *w)
{
    double work = work_ns(w), needed = ENOUGH_NS;

    if (!w->has_first || !(regions(w) > 0) || !(work > 0))
        return 0;
    if (w->first.done_ns == 0)
        return work >= ENOUGH_NS
               && (regions(w) >= 1 || work / regions(w) >= LONG_NS);
    if (w->last.left_ns > 0)
        needed = PART_NS;
    return done_ns(w) > 0 && fmax(done_ns(w), work) >= needed;
}

double meter_window_speed(const struct meter_window *w)
{
    return regions(w) / work_ns(w);
}

double meter_window_pace(const struct meter_window *w)
{
    return w->first.done_ns > 0 ? done_ns(w) / work_ns(w) : 0;
}
