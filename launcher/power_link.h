/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_link.h - the agent's connection to the guard of its node
 * (power_guard.c), which alone may set limits.
 *
 * It is a Unix socket of the abstract kind, "evenstep-power-<job>.<step>",
 * packets of text:
 *
 *   power ACTUATOR UNIT LIMIT FLOOR CEILING    guard: what there is to set
 *   off WHY                                    guard: nothing can be set
 *   LIMIT                                      agent
 *   set LIMIT, or error WHY                    guard, in answer
 *
 * Each end looks who the other is: the user of the step, or root.
 */
#ifndef LAUNCHER_POWER_LINK_H
#define LAUNCHER_POWER_LINK_H

#include "launcher/protocol.h"

#include <sys/socket.h>
#include <sys/un.h>

#define POWER_LINE_MAX 1024

struct event_base;
struct power_link;

struct power_link_events {
    void (*power)(void *arg, const struct msg_power *m);
    void (*limited)(void *arg, const struct msg_limited *m);
};

/* The address of a step's guard on this node; returns its length. */
socklen_t power_link_name(struct sockaddr_un *name,
                          uint32_t job,
                          uint32_t step);

/*
 * Look for the guard of step "JOB.STEP" until it is there: it comes with the
 * step's first task.  NULL if memory ran out.  Called from the loop: power
 * once, limited after each power_link_set().
 */
struct power_link *power_link_start(struct event_base *base,
                                    const char *step,
                                    const struct power_link_events *on,
                                    void *arg);
/* Ask for a limit; limited() follows. */
void power_link_set(struct power_link *l, uint64_t limit);
/* NULL is allowed. */
void power_link_stop(struct power_link *l);

#endif
