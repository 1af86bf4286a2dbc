/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * greeting.h - after the wire-up every agent greets the next one in the ring
 * of ranks, over an authenticated connection of its own, so that a firewall
 * between nodes is found before data has to go there.  (mesh.h answers.)
 */
#ifndef LAUNCHER_AGENT_GREETING_H
#define LAUNCHER_AGENT_GREETING_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/link.h"

struct greeting;

/* reached: 1, or 0 with why in words ("n2 at 10.0.0.3:4000: …"), as where the call
 * has had no answer for 1.5 s.  Called once, from the loop, or at once if that
 * cannot even begin. */
typedef void (*greeting_fn)(void *arg, int reached, const char *why);

/* Greet the agent at to; NULL if that cannot even begin. */
struct greeting *greeting_start(struct event_base *base,
                                const struct endpoint *to,
                                const struct parties *parties,
                                const struct secret *secret,
                                greeting_fn fn,
                                void *arg);
void greeting_destroy(struct greeting *g);

#endif
