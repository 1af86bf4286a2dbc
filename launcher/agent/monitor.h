/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * monitor.h - the runtime monitor in the agent: reads the meters of a step's
 * threads every interval and tells the front end of the node as one.
 *
 * A record goes out only when something has changed since the last one; where
 * nothing is metered the node is looked at four times a second only.  The
 * slowest thread stands for the node, or the mean, or the median, as the site
 * has it.  It is the runtime monitor of US 9,477,533.
 */
#ifndef LAUNCHER_AGENT_MONITOR_H
#define LAUNCHER_AGENT_MONITOR_H

#include "launcher/agent/ranks.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/error.h"

struct event_base;
struct meter_page;
struct monitor;

typedef void (*monitor_fn)(void *arg, const struct msg_progress *record);

/*
 * Make the page for the step's threads, linked into its step directory, and
 * watch it.  fn is called from the loop.  Returns NULL if that cannot be.
 */
struct monitor *monitor_start(struct event_base *base,
                              const struct msg_monitor *order,
                              monitor_fn fn,
                              void *arg,
                              struct es_error *err);
/* What it watches; until monitor_stop(). */
const struct meter_page *monitor_page(const struct monitor *m);
/* Tell the ranks how many threads to use, all together; 0: as they like. */
void monitor_advise_threads(struct monitor *m, uint32_t threads);
/* So many ranks share them; else those that there are. */
void monitor_expect_ranks(struct monitor *m, uint32_t ranks);
/* Tell fn of the ranks' time, too, from now on.  0, or -1 if memory ran out. */
int monitor_watch_ranks(struct monitor *m,
                        ranks_fn fn,
                        rank_detail_fn detail,
                        void *arg);
/* The step is over: tell of it once more, if fn wants to know. */
void monitor_end_ranks(struct monitor *m);
/* One of the programs has ended, and others will do what it would have done
 * next: what they do is added to what it did, in one and the same epoch. */
void monitor_succession(struct monitor *m);
/* NULL is allowed. */
void monitor_stop(struct monitor *m);

#endif
