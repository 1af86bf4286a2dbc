/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standstill.h - is a node late, or was it stopped?  (scontrol suspend, gang
 * scheduling.)
 *
 * Time that a node was stopped is no silence.  Whoever would give a node up
 * asks first.  Its agent answers with how long it was stopped by its own clock
 * (clock.h), and says so by itself when it goes on; deadlines move by that.  A
 * node that does not answer while another does hangs.  If none answers all are
 * stopped, as Slurm stops all nodes of a job, and are waited for; one whose
 * kernel does not answer is lost soon, as ever (channel.h).
 */
#ifndef LAUNCHER_SESSION_STANDSTILL_H
#define LAUNCHER_SESSION_STANDSTILL_H

#include "launcher/session/session.h"

struct standstill;

/* NULL if memory ran out; the session must be ready and outlive it. */
struct standstill *standstill_create(struct session *session);
void standstill_destroy(struct standstill *s); /* NULL is allowed */
/* May the node be given up, which is late?  0: not yet, it was asked. */
int standstill_is_late(struct standstill *s, size_t node);
/*
 * A message of a node: 1 if it was CLOCK, and is taken.  *moved_ns is then for
 * how long it was stopped since we heard of that last, but for what we were
 * ourselves.
 */
int standstill_message(struct standstill *s,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len,
                       int64_t *moved_ns);

#endif
