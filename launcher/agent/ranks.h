/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ranks.h - how the time of a node's ranks goes, from their entries of the
 * meter page to the front end.
 *
 * Of each region the node's ranks are added up.  Regions that come faster than
 * RANKS_REGIONS in the time between two messages are told by their numbers:
 * those that are a multiple of a power of two, which are the same on all nodes.
 */
#ifndef LAUNCHER_AGENT_RANKS_H
#define LAUNCHER_AGENT_RANKS_H

#include "launcher/libevenstep/meter_page.h"
#include "launcher/wire/protocol.h"

struct ranks;

typedef void (*ranks_fn)(void *arg, const struct msg_ranks *m);

#define RANKS_EVERY_NS INT64_C(1000000000) /* between two messages, at least */

/* Tell fn that often, at most; page must outlive it.  NULL if memory ran out. */
struct ranks *ranks_create(const struct meter_page *page,
                           int64_t every_ns,
                           ranks_fn fn,
                           void *arg);
/* Read all entries, and tell if it is time: to be called so often that no
 * more than METER_RING regions pass. */
void ranks_look(struct ranks *r, int64_t now);
/* The step is over: read them, and tell whatever there is, be it nothing. */
void ranks_end(struct ranks *r, int64_t now);
/* NULL is allowed. */
void ranks_destroy(struct ranks *r);

#endif
