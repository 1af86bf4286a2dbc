/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replan.h - find places for tasks of a running graph that have lost theirs.
 *
 * What has been made stays where it is; what has a place keeps it; each other
 * task, in the graph's order, goes to the core on which it ends first.  When
 * all will be done is reckoned as of any plan (schedule.h).  Pure.
 */
#ifndef POLICY_REPLAN_H
#define POLICY_REPLAN_H

#include "policy/schedule.h"

/*
 * Give every task that has no instance one.
 *
 *   done      by task: not 0 if what it makes is there: its instances, which
 *             take no time, say on which processors
 *   usable    by processor: 0 if it is lost
 *   excluded    NULL, or by task a processor that it may not go to if there is
 *             another (it has failed there), or GRAPH_NOBODY
 *   instance  *n of them, with room for one more for each task; of a task
 *             that is done the core does not matter.  On return by processor,
 *             core, and the order in which they run, with times from now on;
 *             those of done tasks on a core that m has not
 *   makespan  when all is done, ns from now
 *
 * Returns 0; or -1 if memory runs out, an instance is on no core or twice on
 * one, or no processor that a task fits is usable.
 * O((n + E) x copies + tasks x (processors + cores)).
 */
int replan_place(const struct graph *g,
                 const struct machine *m,
                 const uint8_t done[],
                 const uint8_t usable[],
                 const uint32_t excluded[],
                 struct instance instance[],
                 uint32_t *n,
                 int64_t *makespan);

#endif
