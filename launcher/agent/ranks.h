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
typedef void (*rank_detail_fn)(void *arg, const struct msg_rank_detail *m);

#define RANKS_EVERY_NS INT64_C(1000000000) /* between two messages, at least */
#define RANKS_STILL_NS INT64_C(5000000000) /* where nothing is new, at most */

/* Tell fn that often, at most, and of each rank, before the last time, detail;
 * page must outlive it.  exits: as of node_use_create().  NULL if memory ran out. */
struct ranks *ranks_create(const struct meter_page *page,
                           int64_t every_ns,
                           int exits,
                           ranks_fn fn,
                           rank_detail_fn detail,
                           void *arg);
/* Read all entries, and tell if it is time: to be called so often that no
 * more than METER_RING regions pass. */
void ranks_look(struct ranks *r, int64_t now);
/* The step is over: read them, and tell whatever there is, be it nothing. */
void ranks_end(struct ranks *r, int64_t now);
/* NULL is allowed. */
void ranks_destroy(struct ranks *r);

#endif
