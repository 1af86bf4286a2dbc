/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover.h - the one controller of nodes whose times differ: their work, or
 * their limits.
 *
 * Both at once correct the same difference twice: a node that is given more of
 * the power, and less of the work for the time before, comes first next time.
 * Work is moved at once, as far as is needed, and costs nothing, so it has the
 * first turn: while it moves, all limits stay as they are at the start.  The
 * limits have theirs where work cannot be moved any more (units too large or too
 * few, a policy that moves none): frames were cut alike, and in each of them the
 * same node came last by more than a trifle.
 *
 * While limits move, work stays: nodes are learned as if they had their limits
 * of the start (handover_speed()), and where this shows another difference than
 * the one that was handed over, a node has changed, and the turn is the work's.
 * So it is where frames are cut otherwise.  Each time this takes twice as many
 * frames as before.
 *
 * Pure.  Figures: t/policy/handover.c, which simulates both.
 */
#ifndef POLICY_HANDOVER_H
#define POLICY_HANDOVER_H

#include <stddef.h>
#include <stdint.h>

#define HANDOVER_ALIKE  2    /* frames, at first */
#define HANDOVER_MOST   48   /* frames, at last */
#define HANDOVER_REST   0.03 /* of the last one's time: the others' mean wait */
#define HANDOVER_CHANGE 0.15 /* of that: a node has changed */

struct handover_node { /* in a frame */
    uint64_t units;    /* that it did; 0: it had none */
    double seconds;    /* as with its limit of the start */
};

struct handover { /* all zero: it is the work's turn */
    unsigned alike;
    unsigned needed; /* of these; 0: HANDOVER_ALIKE */
    size_t last;     /* the node that came last */
    double rest;     /* when it was handed over */
    int by_limits;   /* it is the limits' turn */
};

/* A frame has ended.  had: n, the units of the frame before, all 0 at first.
 * Returns 1 if limits may move until the next frame ends, and work may not. */
int handover_frame(struct handover *h,
                   uint64_t had[],
                   const struct handover_node node[],
                   size_t n);
/* A node came or went: it is the work's turn. */
void handover_back(struct handover *h);
/* The speed of a node with a limit, against that with its limit of the start.
 * exponent: of the speed in the limit, see power_response.h; anything else than
 * 0 to 1 is taken for the nearer of these. */
double handover_speed(uint64_t limit, uint64_t start, double exponent);

#endif
