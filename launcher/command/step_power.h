/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_power.h - the power of a step's nodes is steered while it runs, and
 * `evenstep top` is shown how they do.
 */
#ifndef LAUNCHER_COMMAND_STEP_POWER_H
#define LAUNCHER_COMMAND_STEP_POWER_H

#include "launcher/session/energy.h"
#include "launcher/session/energy_saved.h"
#include "launcher/session/steering.h"
#include "launcher/session/step_times.h"

struct event;
struct event_base;

struct step_power { /* all zero: not started */
    struct steering *steering;
    const struct energy_watch *energy; /* the caller's; NULL: not known */
    struct event *on_time;
    uint32_t job, step, nodes;
    enum aggregate aggregate;
    enum power_variant variant;
    struct energy_saved *saved;     /* nodes; NULL: not what it is for */
    const struct step_times *times; /* of its ranks, for top; or NULL */
    enum step_meter meter;
    const char *command; /* of the step, or NULL; the caller's */
    int64_t begun_ns;
};

/* p->job, p->step and p->meter are set; config must outlive p.  Returns 0, or -1 if
 * memory ran out; step_power_stop() it in both cases. */
int step_power_start(struct step_power *p,
                     struct event_base *base,
                     struct session *session,
                     const struct config_power *config,
                     enum power_variant variant);
/* Call it when no agent of this host runs any more: one may have its step
 * directory where ours is. */
void step_power_stop(struct step_power *p);

#endif
