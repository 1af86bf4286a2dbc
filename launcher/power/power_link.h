/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_link.h - the agent's connection to evenstep-power on its node, the
 * guard (power_guard.c): only it may set limits.
 *
 * Packets of text go over the socket of power_socket.h:
 *
 *   power ACTUATOR UNIT LIMIT FLOOR CEILING    guard: what can be set, with the
 *                                              limit to begin with
 *   off WHY                                    guard: nothing can be set
 *   parts ...                                  guard, after a limit was set: over
 *                                              what it can be divided, see
 *                                              parts_line.h
 *   LIMIT [PARTLIMIT...]                       agent; 0: restore what was
 *                                              found at the start
 *   threads TID...                             agent: these may be divided, too;
 *                                              "parts" follows
 *   set LIMIT, or error WHY                    guard, in answer
 *   energy UJ NS                               guard, every 10 s: what the
 *                                              node's counters have counted
 *                                              in the first NS nanoseconds
 *   noenergy WHY                               guard: they are of no use (any
 *                                              more)
 *
 * If the guard does not answer within POWER_ANSWER_MS, the agent hangs up.
 */
#ifndef LAUNCHER_POWER_POWER_LINK_H
#define LAUNCHER_POWER_POWER_LINK_H

#include "launcher/wire/parts_line.h"
#include "launcher/wire/protocol.h"

#define POWER_LINE_MAX   1024
#define POWER_PACKET_MAX 32768 /* with as many parts as there may be */
#define POWER_ANSWER_MS  5000  /* setting a limit takes far less */

struct event_base;
struct power_link;

struct power_link_events {
    void (*power)(void *arg, const struct msg_power *m);
    void (*limited)(void *arg, const struct msg_limited *m);
    void (*energy)(void *arg, const struct msg_energy *m);
    void (*parts)(void *arg, const struct node_parts *p); /* p->n may be 0 */
};

/*
 * Look in dir for the guard of step "JOB.STEP" until it is there; it starts
 * with the step's first task.  NULL if memory ran out.  The event loop calls
 * power once, limited after each power_link_set(), in their order, and parts
 * whenever they are others.
 */
struct power_link *power_link_start(struct event_base *base,
                                    const char *dir,
                                    const char *step,
                                    const struct power_link_events *on,
                                    void *arg);
/* Ask for a limit, or for none by 0, and for limits of the n parts of it (n may
 * be 0); limited() follows. */
void power_link_set(struct power_link *l,
                    uint64_t limit,
                    const uint64_t part[],
                    size_t n);
/* Tell that these threads could have limits of their own; parts() follows if
 * there is a limit to divide. */
void power_link_threads(struct power_link *l, const pid_t thread[], size_t n);
/* NULL is allowed. */
void power_link_stop(struct power_link *l);

#endif
