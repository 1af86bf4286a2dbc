/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * needs.h - units that need cores, memory and GPUs of their own: which one a node begins
 * with next.
 *
 * A node has as many cores as lanes, some memory and some GPUs; each unit that is out has
 * what it needs of these for itself.  The units of a frame have an order: the widest, which
 * need the largest part of any of the three of a node, come first, of these those
 * that are said to take longest, and else as they stand in the frame.  One that takes most
 * of the time that all take at least comes before the widest.  In a frame that may grow
 * they are as they stand, so that none waits for ever.
 *
 * Of the units that nobody has and that a node could ever do, the first is its head.  If
 * there is room for the head, it is begun.  If not, room is kept for it: what is begun
 * meanwhile, in that order, is what fits in now and, with all else that was begun so,
 * beside the head.  So no core idles that a unit could use without making the head wait
 * for it, and the head waits only for what ran before it was the head.
 *
 * Simulated (t/policy/needs.c), 60 units of 1 to 4 cores on 2 nodes of 4, time / ideal:
 *
 *   units                     widest first    longest first
 *   alike                         1.04            1.04
 *   of 1 to 7 s, not said         1.05            1.05
 *   of 1 to 7 s, said             1.02            1.17
 *   of 1 to 400 s, said           1.06            1.18
 *
 * Pure but for allocation in needs_create(), needs_begin() and needs_grow().
 */
#ifndef POLICY_NEEDS_H
#define POLICY_NEEDS_H

#include "policy/unit_pool.h"

#include <stddef.h>
#include <stdint.h>

#define NEEDS_ALL UINT32_MAX /* all cores that the node has */

struct unit_need {
    uint64_t unit;
    uint64_t line;   /* of the caller's list */
    uint32_t cores;  /* NEEDS_ALL; 0: not said */
    uint64_t memory; /* bytes; 0: not said */
    uint32_t gpus;   /* 0: not said */
    double seconds;  /* that it will take, about; 0: not said */
};

struct need_list { /* of units of which something is said, ascending */
    struct unit_need *need;
    size_t n;
};

struct needs;

/*
 *   lanes   >= 1; group[], memory[] and gpus[], one a lane, stay the caller's: the first
 *           lane of its node (the lanes of a node adjoin), and what this node has
 *   usual   what units need of which nothing is said; cores 0: one; gpus 0: none
 *   said    of single units; stays the caller's, and may grow
 *
 * NULL if memory ran out.
 */
struct needs *needs_create(size_t lanes,
                           const size_t group[],
                           const uint64_t memory[],
                           const uint32_t gpus[],
                           const struct unit_need *usual,
                           const struct need_list *said);
void needs_destroy(struct needs *n); /* NULL is allowed */
/* Is there a node that could do it?  *largest is the first lane of that, or of the one
 * that is nearest to it: with the cores, the GPUs and the most memory; else with the cores
 * and the most GPUs; or with the most cores. */
int needs_can_be_met(const struct needs *n,
                     const struct unit_need *need,
                     size_t *largest);

/* A frame begins, or a growing one has more units.  0, or -1 if memory ran out. */
int needs_begin(struct needs *n, struct slice frame, int is_growing);
int needs_grow(struct needs *n, uint64_t end);
/* Nobody has these units of the frame any more. */
void needs_back(struct needs *n, struct slice units);
/* What a lane begins with next, of a pool: 1, or 0: it waits.  is_choosy: of what
 * has not failed.  O(kinds of needs). */
int needs_choose(struct needs *n,
                 size_t lane,
                 const struct unit_pool *pool,
                 int is_choosy,
                 uint64_t *unit);
/* A lane, which has none, has a unit out, or has it no more. */
void needs_take(struct needs *n, size_t lane, uint64_t unit);
void needs_give(struct needs *n, size_t lane);
/* Is anything said of any unit so far?  If not, each needs one core, and any lane may
 * begin any of them, also many one behind the other. */
int needs_are_said(const struct needs *n);
/* Cores that a lane has now; 0: it has none, or one, as nothing was said of any unit. */
uint32_t needs_cores(const struct needs *n, size_t lane);
/* Has any unit so far needed a GPU?  *gpus is what a lane has. */
int needs_gpus(const struct needs *n, size_t lane, uint32_t *gpus);

#endif
