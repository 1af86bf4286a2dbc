/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_link.h - the agent's connection to the guard of its node
 * (power_guard.c), which alone may set limits.
 *
 * By the socket of power_socket.h, packets of text:
 *
 *   power ACTUATOR UNIT LIMIT FLOOR CEILING    guard: what there is to set, and
 *                                              what to begin with
 *   off WHY                                    guard: nothing can be set
 *   LIMIT                                      agent; 0: put back what was
 *                                              found
 *   set LIMIT, or error WHY                    guard, in answer
 *
 * A guard that does not answer for POWER_ANSWER_MS is left.
 */
#ifndef LAUNCHER_POWER_POWER_LINK_H
#define LAUNCHER_POWER_POWER_LINK_H

#include "launcher/wire/protocol.h"

#define POWER_LINE_MAX  1024
#define POWER_ANSWER_MS 5000 /* a limit is set in far less */

struct event_base;
struct power_link;

struct power_link_events {
    void (*power)(void *arg, const struct msg_power *m);
    void (*limited)(void *arg, const struct msg_limited *m);
};

/*
 * Look in dir for the guard of step "JOB.STEP" until it is there: it comes with
 * the step's first task.  NULL if memory ran out.  Called from the loop: power
 * once, limited after each power_link_set().
 */
struct power_link *power_link_start(struct event_base *base,
                                    const char *dir,
                                    const char *step,
                                    const struct power_link_events *on,
                                    void *arg);
/* Ask for a limit, or for none by 0; limited() follows. */
void power_link_set(struct power_link *l, uint64_t limit);
/* NULL is allowed. */
void power_link_stop(struct power_link *l);

#endif
