/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_schedule.h - place a task graph task by task, without copies: HEFT, and a
 * plain list scheduler.
 *
 * HEFT looks at what each processor takes for a task and at where its inputs
 * are: H. Topcuoglu, S. Hariri and M.-Y. Wu, Performance-Effective and
 * Low-Complexity Task Scheduling for Heterogeneous Computing, IEEE TPDS 13 (3),
 * 2002.  Unlike there, a task is not put into a hole before others, as a core
 * runs its tasks in one order of all.  The plain one gives the next task to the
 * core that is free first.
 */
#ifndef POLICY_LIST_SCHEDULE_H
#define POLICY_LIST_SCHEDULE_H

#include "policy/machine.h"

enum list_rule {
    LIST_HEFT,  /* longest way to an end with communication first, to where it
                   ends first */
    LIST_PLAIN, /* the graph's order, to the core that is free first */
};

/* Scratch memory, good for any number of placements one after another. */
struct list_room;

/* For g on so many processors of so many cores at most; NULL without memory. */
struct list_room *list_room_create(const struct graph *g,
                                   uint32_t processors,
                                   uint32_t cores);
void list_room_destroy(struct list_room *room);

/*
 * Fill in an instance for each task, with its times, in the order of *rank.
 *
 *   room  made for at least m's processors and cores
 *   rank  on return by task its place in the order of the rule, a linear
 *         extension of the graph, in which schedule.h reckons the same times;
 *         room's, until the next call
 *
 * Returns 0, or -1 if a task fits none of m's processors.
 * O(E + tasks x (log tasks + processors + cores)); a task of several cores adds
 * processors x cores.
 */
int list_place(const struct graph *g,
               const struct machine *m,
               enum list_rule rule,
               struct instance instance[],
               const uint32_t **rank,
               struct list_room *room);

#endif
