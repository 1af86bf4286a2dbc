/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grouping.h - put the paths of a task graph on processors of several cores.
 *
 * Paths that depend on each other go to the cores of one processor, where
 * communication is free and copies of the same task fall away.  This is one
 * placement for a given number of processors (step 5 of CN 103235742);
 * graph_plan.h searches for the number.
 */
#ifndef POLICY_GROUPING_H
#define POLICY_GROUPING_H

#include "policy/graph_paths.h"
#include "policy/schedule.h"

/* Dependences of tasks on paths that there is room for: 12 bytes each, 800 MB.
 */
#define GROUPING_DEPENDENCES_MAX (1u << 26)

enum grouping_mode {
    GROUPING_BEST,    /* of the others the one whose plan costs least */
    GROUPING_LITERAL, /* to the processor that a path depends on most */
    GROUPING_GUARD, /* likewise, if no core gets more than the heaviest path */
    GROUPING_CAP,   /* likewise, and no processor more paths than its part */
    GROUPING_PACK,  /* not grouped: as many paths a processor as it has cores */
    GROUPING_SPREAD, /* not grouped: a path a processor */
    GROUPING_HEFT,   /* no paths: list_schedule.h */
    GROUPING_LIST,   /* likewise */
};

struct grouping;

enum grouping_fault {
    GROUPING_SOUND,
    GROUPING_DENSE, /* above GROUPING_DEPENDENCES_MAX */
    GROUPING_MEMORY,
};

/*
 * For placements of the paths p on processors with so many cores; g and p must
 * outlive it.
 *
 *   dependent  whether GROUPING_LITERAL, _GUARD and _CAP will be asked for:
 *              without, no dependences are kept, and none are too many
 *
 * O(sum over paths of their tasks and these' neighbours).
 */
enum grouping_fault grouping_create(struct grouping **made,
                                    const struct graph *g,
                                    const struct graph_paths *p,
                                    uint32_t cores,
                                    int dependent);
void grouping_destroy(struct grouping *x);

/* Place on m's processors from now on, which may differ; those before others are
 * preferred, so the fastest come first.  m is copied, its kinds are not. */
void grouping_set_machine(struct grouping *x, const struct machine *m);

/* About how many steps of a few instructions a placement takes.  O(tasks). */
uint64_t grouping_work(const struct grouping *x, uint32_t processors);

/* The i-th heaviest path; equals in order of creation. */
uint32_t grouping_path(const struct grouping *x, uint32_t i);

/*
 * DF(a, b), how much path a depends on path b: for each task of a its time if
 * b has it, else its communication with b.  Not symmetric.  For reading:
 * grouping reckons it faster.  O(product of the lengths).
 */
int64_t grouping_dependence(const struct graph *g,
                            const struct graph_paths *p,
                            uint32_t a,
                            uint32_t b);

/*
 * Place all paths.
 *
 *   mode        up to GROUPING_SPREAD, but not GROUPING_BEST
 *   processors  how many to use, from 1 to what gives each path a core; with
 *               GROUPING_PACK and _SPREAD they follow from the paths
 *   instance    room for as many as the paths have tasks; times are not set
 *
 * Returns how many there are.  O(N M + sum over the paths' tasks of
 * their neighbours and of the processors that they depend on).
 */
uint32_t grouping_place(struct grouping *x,
                        enum grouping_mode mode,
                        uint32_t processors,
                        struct instance instance[]);

#endif
