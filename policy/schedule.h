/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.h - when each task of a placed task graph runs, and the energy.
 *
 * A placement says on which core which instances of tasks run; one task may
 * have several.  Times and energy follow from it alone, so that a plan, a
 * what-if and the runtime's re-planning reckon alike.
 *
 * Sums are doubles that hold whole nanoseconds: exact up to 2^53 ns, which is
 * 104 days of all cores together; beyond, rounded in the same way everywhere.
 */
#ifndef POLICY_SCHEDULE_H
#define POLICY_SCHEDULE_H

#include "policy/machine.h"

#define SCHEDULE_CORES_MAX (1u << 24) /* of all processors together */

struct energy { /* joules */
    double busy, idle, base, comm, total;
};

struct schedule_sum {
    uint32_t processors, cores; /* that have an instance */
    int64_t makespan;           /* ns */
    struct energy energy;
};

/* Scratch memory, good for any number of schedules one after another. */
struct schedule_room;

/* For schedules of g with so many instances and cores at most; NULL if memory
 * runs out. */
struct schedule_room *schedule_room_create(const struct graph *g,
                                           uint32_t instances,
                                           uint32_t cores);
void schedule_room_destroy(struct schedule_room *room);

/*
 * Let the schedules from now on be in another order than the graph's.
 *
 *   rank  by task, its place in the order: a linear extension of the graph; must
 *         outlive the schedules.  NULL: the graph's
 */
void schedule_room_order(struct schedule_room *room, const uint32_t rank[]);

/*
 * Fill in start and finish of n instances, and *sum.
 *
 *   instance  task, processor and core are given, in any order; on return
 *             by processor, then core, then in the order in which they run
 *   room      made for at least n instances and all of m's cores
 *
 * A core runs its tasks in the graph's order, each as soon as the core is free
 * and its inputs are there: from the same processor at once, from another
 * after comm.  One message is charged for each input that no instance on the
 * same processor had ready by the start.
 * Returns 0; or -1 (no times are set) if a task has no instance, or two on one
 * core, an instance is of no task or on cores that its processor has not, or there are more than room
 * was made for.
 * O(n + E + sum over instances of in-degree x log copies).
 */
int schedule_evaluate(const struct graph *g,
                      const struct machine *m,
                      struct instance instance[],
                      uint32_t n,
                      struct schedule_room *room,
                      struct schedule_sum *sum);

#endif
