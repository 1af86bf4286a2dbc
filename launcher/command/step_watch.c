/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_watch.h"
#include "launcher/base/notice.h"
#include "launcher/session/job_end.h"
#include "launcher/session/step_death.h"
#include "launcher/session/step_still.h"
#include "launcher/session/step_times.h"
#include "policy/lending.h"

#include <event2/event.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- step lent ----------------------------------------------------------------- */

/* At the end of a step: the CPU time that its ranks have had on CPUs
 * of ranks that waited (srun --evenstep-lend, libevenstep/lend.h). */

#define STEP_LENT_LINE 256

#define NS 1e9

struct lent {
    double borrowed;     /* CPU ns, of all ranks */
    double sooner;       /* ns, of the rank that gained most */
    uint32_t rank, most; /* ranks that have borrowed; the first of these */
};

/* What a rank had on borrowed CPUs it would have had to do on its own. */
static void add_rank(struct lent *l,
                     const struct step_node *node,
                     const struct step_rank *r)
{
    double own = node->n > 0 ? floor(node->cpus / node->n) : 1;

    if (!(r->borrowed > 0))
        return;
    if (l->rank++ == 0)
        l->most = r->rank;
    l->borrowed += r->borrowed;
    l->sooner = fmax(l->sooner, r->borrowed / fmax(own, 1));
}

/* The length of a region, as the ranks of a node have ended most of them. */
static double region_ns(const struct step_times *t)
{
    double regions = 0, elapsed = 0;

    for (size_t i = 0; i < t->n; i++) {
        regions = fmax(regions, t->node[i].sum.regions);
        elapsed = fmax(elapsed, t->node[i].sum.elapsed);
    }
    return regions > 0 ? elapsed / regions : HUGE_VAL;
}

static void none_text(const struct step_times *t, char line[STEP_LENT_LINE])
{
    double ns = region_ns(t);

    if (ns < (double)LENDING_REGION_NS)
        snprintf(line, STEP_LENT_LINE,
                 "--evenstep-lend moved nothing: a region took %.3g ms, and "
                 "lending gains from %.0f ms on",
                 ns / 1e6, LENDING_REGION_NS / 1e6);
    else
        snprintf(line, STEP_LENT_LINE,
                 "--evenstep-lend moved nothing: no rank had more OpenMP "
                 "threads than CPUs while another one of its node waited: set "
                 "OMP_NUM_THREADS above the CPUs of a rank (-c)");
}

/*
 * Write that line, or why it was none if it was asked for.  Returns 0 if there is
 * nothing to say: lending was not asked for and moved nothing, or no rank was
 * metered.
 */
static int step_lent_text(const struct step_times *t,
                          int is_asked,
                          char line[STEP_LENT_LINE])
{
    struct lent l = {.rank = 0};
    char others[48] = "";

    if (!step_times_is_alive(t))
        return 0;
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++)
            add_rank(&l, &t->node[i], &t->node[i].rank[k]);
    if (l.rank == 0 && is_asked)
        none_text(t, line);
    if (l.rank == 0)
        return is_asked;
    if (l.rank > 1)
        snprintf(others, sizeof others, " and %" PRIu32 " more", l.rank - 1);
    snprintf(line, STEP_LENT_LINE,
             "lent: rank %" PRIu32
             "%s had %.3g CPU-seconds on CPUs of ranks that waited; one was "
             "done up to %.3g s sooner",
             l.most, others, l.borrowed / NS, l.sooner / NS);
    return 1;
}

/* --- step watch ---------------------------------------------------------------- */

#define STILL_S 1 /* between two looks if the step hangs */

/* The plugin has started guards for these.  Without memory nothing is known of
 * the energy. */
static void watch_energy(struct step_watch *w,
                         const struct front *front,
                         const struct config *config,
                         const struct attend_options *o)
{
    int guard = o->power != POWER_OFF
                || (o->report && strcmp(o->report, REPORT_OFF) != 0);

    w->energy = energy_start(front->base, front->session, config, guard);
    energy_in_job(w->energy);
    w->power.energy = w->report.energy = w->energy;
    w->report.saved = w->power.saved;
}

static void say_if_still(struct step_watch *w)
{
    char text[STEP_STILL_TEXT];

    if (w->is_still || !w->report.times
        || !step_still_text(w->report.times, text))
        return;
    w->is_still = 1;
    notice("step %u.%u: %s", w->report.job, w->report.step, text);
}

static void on_still(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    say_if_still(arg);
}

/* Only Slurm knows why it has ended all ranks. */
static void find_why(struct step_watch *w)
{
    struct step_death d;

    if (!w->report.times)
        return;
    step_death_find(&d, w->report.times);
    if (step_death_is_of_all(&d))
        w->report.times->why = job_end_why(w->report.job);
}

/* Without memory it is not said. */
static void watch_still(struct step_watch *w, struct event_base *base)
{
    static const struct timeval tv = {STILL_S, 0};

    w->on_still = event_new(base, -1, EV_PERSIST, on_still, w);
    if (w->on_still)
        (void)event_add(w->on_still, &tv);
}

int step_watch_start(struct step_watch *w,
                     const struct front *front,
                     const struct config *config,
                     const struct attend_options *o)
{
    w->power.job = w->report.job = o->job;
    w->power.step = w->report.step = o->step;
    w->report.command = o->command;
    w->power.meter = config->step_meter;
    w->report.is_cpu = config->step_meter == STEP_METER_CPU;
    w->power.command = o->command;
    w->is_lending = w->report.is_awaited = o->lend == ATTEND_LEND_ON;
    step_report_start(&w->report, front->session);
    w->power.times = w->report.times;
    if (step_power_start(&w->power, front->base, front->session, &config->power,
                         o->power)
            < 0
        || lost_agents_start(&w->lost, front->base, front->session,
                             w->report.times)
               < 0)
        return -1;
    watch_energy(w, front, config, o);
    watch_still(w, front->base);
    return 0;
}

int step_watch_message(struct step_watch *w,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    return (w->power.steering
            && steering_message(w->power.steering, node, type, body, len))
           || step_report_message(&w->report, node, type, body, len)
           || (w->energy && energy_message(w->energy, node, type, body, len));
}

void step_watch_lost(struct step_watch *w,
                     int runs,
                     size_t node,
                     const char *why)
{
    if (w->power.steering)
        steering_lost(w->power.steering, node);
    step_report_lost(&w->report, node);
    if (runs)
        lost_agents_lost(&w->lost, node, why);
}

void step_watch_returned(struct step_watch *w, size_t node)
{
    if (w->power.steering)
        steering_returned(w->power.steering, node);
    lost_agents_returned(&w->lost, node);
}

void step_watch_end(struct step_watch *w,
                    struct event_base *base,
                    void (*over)(void *arg),
                    void *arg)
{
    lost_agents_stop(&w->lost);
    if (w->on_still)
        (void)event_del(w->on_still);
    step_report_end(&w->report, base, over, arg);
}

void step_watch_tell(struct step_watch *w, const struct qualification *q)
{
    char line[STEP_LENT_LINE];

    w->report.is_steered =
        w->power.steering && steering_has_moved(w->power.steering);
    if (w->report.wanted)
        find_why(w);
    step_report_tell(&w->report, q);
    if (w->report.times && (w->report.wanted || w->is_lending)
        && step_lent_text(w->report.times, w->is_lending, line))
        notice("%s", line);
}

void step_watch_stop(struct step_watch *w)
{
    if (w->on_still)
        event_free(w->on_still);
    step_power_stop(&w->power);
    lost_agents_stop(&w->lost);
    step_report_stop(&w->report);
    energy_stop(w->energy);
}
