/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns.h - frames of work whose nodes' power is steered, too: in each frame it is
 * the turn of the work or that of the limits (policy/handover.h).
 */
#ifndef LAUNCHER_RUN_TURNS_H
#define LAUNCHER_RUN_TURNS_H

#include "launcher/session/steering.h"
#include "policy/handover.h"

struct turns { /* all zero: there are no limits, and the work has all turns */
    struct steering *steering;
    const size_t *node; /* of each slot; NULL: a slot is a node */
    size_t n;           /* slots */
    struct handover handover;
    struct handover_node *part; /* n: of the frame, the caller's to fill in */
    double *speed; /* n: as far as it is known now, against that with the limits
                      of the start */
    double *before; /* n: likewise, when the frame began */
    uint64_t *had;  /* n */
};

/* steering and node must outlive t.  0, or -1 if memory ran out; it is to be
 * cleared in any case. */
int turns_init(struct turns *t,
               struct steering *steering,
               const size_t node[],
               size_t n);
/* What outlives it is not touched. */
void turns_clear(struct turns *t);
/* To be called now and then: find out the speeds. */
void turns_look(struct turns *t);
/* A frame begins. */
void turns_begin(struct turns *t);
/* What a slot took in the frame, as with its limit of the start. */
double turns_seconds(const struct turns *t, size_t slot, double seconds);
/* The frame has ended, and t->part says how, in seconds as they were.  1 if work
 * stays as it is cut. */
int turns_end(struct turns *t);
/* There are no more frames: limits have all turns. */
void turns_stop(struct turns *t);
/* A node has come or gone. */
void turns_back(struct turns *t);

#endif
