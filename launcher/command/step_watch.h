/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_watch.h - how a step does while it runs: the power of its nodes is steered
 * (step_power.h), their energy and the time of their ranks are read, which of them
 * have lost their agent is said, and at the end how it went (step_report.h).
 */
#ifndef LAUNCHER_COMMAND_STEP_WATCH_H
#define LAUNCHER_COMMAND_STEP_WATCH_H

#include "launcher/command/attend_options.h"
#include "launcher/command/lost_agents.h"
#include "launcher/command/step_power.h"
#include "launcher/command/step_report.h"
#include "launcher/session/front.h"

struct step_watch { /* all zero: not started */
    struct step_power power;
    struct energy_watch *energy;
    struct step_report report;
    struct lost_agents lost;
    int is_lending;         /* asked for by the user */
    struct event *on_still; /* looks now and then if it hangs */
    int is_still;           /* that was said */
};

/* Start, before the tasks do: their meters look for the page of their node only
 * once.  front, config and o must outlive w.  0, or -1 if memory ran out; w is to
 * be stopped in both cases. */
int step_watch_start(struct step_watch *w,
                     const struct front *front,
                     const struct config *config,
                     const struct attend_options *o);
/* A node's message: 1 if it was for us. */
int step_watch_message(struct step_watch *w,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len);
/* A node is lost; runs: and the step is running, which goes on. */
void step_watch_lost(struct step_watch *w,
                     int runs,
                     size_t node,
                     const char *why);
void step_watch_returned(struct step_watch *w, size_t node);
/* The step is over: over() follows, when it is known how it went. */
void step_watch_end(struct step_watch *w,
                    struct event_base *base,
                    void (*over)(void *arg),
                    void *arg);
/* Then: tell it, if that is wanted. */
void step_watch_tell(struct step_watch *w, const struct qualification *q);
/* After the session is closed. */
void step_watch_stop(struct step_watch *w);

#endif
