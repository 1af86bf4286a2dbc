/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_top.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void run_top_start(struct run_top *t, size_t nodes, const char *command)
{
    t->part = calloc(nodes, sizeof *t->part);
    if (!t->part)
        return;
    t->n = nodes;
    t->what = command;
    top_place_start(&t->place);
}

void run_top_units(struct run_top *t, size_t node, uint64_t units)
{
    if (node < t->n)
        t->part[node].total += (double)units;
}

/* One that is yet to come has nothing to do. */
static enum top_state state_of(const struct session *session,
                               size_t node,
                               const struct distribution_part *p)
{
    if (session_is_awaited(session, node))
        return TOP_IDLE;
    if (!session_node(session, node)->present)
        return TOP_LOST;
    if (p->standing == STANDING_BAD)
        return TOP_BAD;
    if (p->standing == STANDING_LEAVING)
        return TOP_LEAVING;
    return p->running > 0 ? TOP_WORKING : TOP_IDLE;
}

static void look_at(struct top_part *t,
                    const struct distribution_part *p,
                    const struct session *session,
                    size_t node,
                    double elapsed)
{
    double rate = p->rate;

    if (!(rate > 0) && t->total > 0 && elapsed > 0)
        rate = t->total / elapsed;
    snprintf(t->name, sizeof t->name, "%s", session_node(session, node)->name);
    t->state = state_of(session, node, p);
    t->why = t->state == TOP_IDLE ? p->why : IDLE_NOT;
    t->slots = (double)p->slots;
    t->running = (double)p->running;
    t->part = (double)(p->done + p->out + p->waiting);
    t->done = (double)p->done;
    t->underway = p->underway;
    t->waiting = (double)p->waiting;
    t->rate = rate > 0 ? rate : -1;
    t->left = p->left;
    if (t->left < 0 && rate > 0)
        t->left = (double)(p->out + p->waiting) / rate;
}

/* Equal parts would take as long as the slowest node does for its own.  Until a
 * frame is done nothing but the speeds tells of it. */
static double expected_gain(const struct run_top *t, double rate)
{
    double slowest = INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->part[i].state != TOP_LOST) {
            slowest = fmin(slowest, t->part[i].rate);
            n++;
        }
    return slowest > 0 && isfinite(slowest) && rate > 0
               ? rate / ((double)n * slowest)
               : -1;
}

static struct top_longest longest_of(const struct run_top *t)
{
    struct top_longest longest = {.seconds = -1};

    if (t->longest)
        t->longest(t->arg, &longest);
    return longest;
}

static struct top_progress progress_of(const struct run_top *t,
                                       const struct progress *p,
                                       const struct distribution *d)
{
    double efficiency;
    struct tally_now now = progress_now(p, d, &efficiency);

    return (struct top_progress){.frame = (double)now.frame,
                                 .frames = (double)now.frames,
                                 .done = (double)now.done,
                                 .all = (double)now.all,
                                 .rate = now.rate,
                                 .left = now.left < 0 ? -1 : now.left,
                                 .elapsed = top_place_elapsed(&t->place),
                                 .planned = -1,
                                 .efficiency = efficiency < 0 ? -1 : efficiency,
                                 .are_tasks = now.are_tasks,
                                 .is_open = now.is_open,
                                 .failed = (double)now.failed,
                                 .longest = longest_of(t),
                                 .gain = p->sum.time > 0
                                             ? p->sum.equal / p->sum.time
                                             : expected_gain(t, now.rate)};
}

void run_top_look(struct run_top *t,
                  const struct distribution *d,
                  const struct session *session,
                  struct run_meter *m,
                  struct run_power *power,
                  const struct run_energy *energy,
                  const struct progress *p)
{
    struct top_view top;
    struct top_progress progress;

    if (!top_place_is_due(&t->place, t->n + m->n))
        return;
    for (size_t i = 0; i < t->n; i++) {
        struct distribution_part part = distribution_part(d, i);

        look_at(&t->part[i], &part, session, i, top_place_elapsed(&t->place));
    }
    run_meter_view(m, &top);
    run_power_view(power, &top);
    progress = progress_of(t, p, d);
    run_energy_view(energy, &progress);
    top.kind = TOP_RUN;
    top.what = t->what;
    top.progress = &progress;
    top.part = t->part;
    top.parts = session_known_size(session);
    session_job(session, &top.job, &top.step);
    top_place_write(&t->place, &top);
}

void run_top_stop(struct run_top *t)
{
    top_place_stop(&t->place);
    free(t->part);
    *t = (struct run_top){.n = 0};
}
