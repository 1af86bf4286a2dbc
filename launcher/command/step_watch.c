/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_watch.h"

#include <string.h>

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

int step_watch_start(struct step_watch *w,
                     const struct front *front,
                     const struct config *config,
                     const struct attend_options *o)
{
    w->power.job = w->report.job = o->job;
    w->power.step = w->report.step = o->step;
    w->power.meter = config->step_meter;
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
    step_report_end(&w->report, base, over, arg);
}

void step_watch_tell(struct step_watch *w, const struct qualification *q)
{
    w->report.is_steered =
        w->power.steering && steering_has_moved(w->power.steering);
    step_report_tell(&w->report, q);
}

void step_watch_stop(struct step_watch *w)
{
    step_power_stop(&w->power);
    lost_agents_stop(&w->lost);
    step_report_stop(&w->report);
    energy_stop(w->energy);
}
