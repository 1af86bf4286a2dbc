/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steering.h - the performance balancer of a running step, in its front end:
 * collects what the nodes' monitors tell, and when there is enough of it has
 * policy/power.h decide, and the nodes' actuators follow.
 *
 * Nothing is limited until something is metered.  If nothing is metered for
 * 10 s, one line says so, and all limits are lifted until something is.
 *
 * To save power the start is the most that there is, and the sum only falls.
 *
 * The sum of the limits never exceeds that of the start: a node confirms that
 * its limit is lower before another one's goes up.  A node that falls silent
 * keeps its limit; when one is lost, all others go back to what they had at
 * the start before its guard does the same.  Source: US 9,477,533.
 */
#ifndef LAUNCHER_SESSION_STEERING_H
#define LAUNCHER_SESSION_STEERING_H

#include "launcher/config/config.h"
#include "launcher/session/energy.h"
#include "launcher/session/session.h"
#include "policy/power.h"

struct steering;

/* How a node stands, for people. */
struct steering_view {
    const char *name, *unit; /* unit "": it has no limit */
    const char *rack;        /* "": not known */
    uint32_t slots;          /* threads that are metered */
    double progress;         /* regions since it began */
    double speed;            /* regions a second of work, in the last round */
    double waiting;          /* part of the time, in the last round */
    double skew;             /* of its threads */
    uint64_t limit, floor, ceiling;
    uint64_t misuse;
    struct energy_view energy; /* whoever watches it fills it in */
};

/*
 * Watch step "JOB.STEP", metered so, on all nodes of the session (NULL: what the
 * session's own agents run), and steer it unless the variant is POWER_OFF.
 * config must outlive it.  NULL if memory ran out.
 */
struct steering *steering_start(struct session *session,
                                const char *step,
                                const struct config_power *config,
                                enum power_variant variant,
                                enum step_meter meter);
/* Takes a node's message if it is for steering; 1 if it was. */
int steering_message(struct steering *s,
                     size_t node,
                     uint16_t type,
                     const uint8_t *body,
                     size_t len);
/* The ranks of a node have been useful for so many ns until now, and had, or
 * waited for, that much CPU time.  What a node does without CPU no limit makes
 * faster. */
void steering_note_cpu(struct steering *s,
                       size_t node,
                       double useful_ns,
                       double cpu_ns);
void steering_lost(struct steering *s, size_t node);
/* A node that was lost is back: it is watched again. */
void steering_returned(struct steering *s, size_t node);
/* To be called every second or so: is anything metered? */
void steering_look(struct steering *s);
/* While it is held all have their limits of the start: others correct what the
 * nodes differ by (policy/handover.h). */
void steering_hold(struct steering *s, int is_held);
/* A node's speed now, against that with its limit of the start. */
double steering_speed(const struct steering *s, size_t node);
/* Has any node told of progress or of a limit? */
int steering_is_alive(const struct steering *s);
/* Has any node had more or less than its part? */
int steering_has_moved(const struct steering *s);
/* Of all nodes, in the last round. */
double steering_skew(const struct steering *s);
struct steering_view steering_view(const struct steering *s, size_t node);
/* NULL is allowed; the session may be gone. */
void steering_stop(struct steering *s);

#endif
