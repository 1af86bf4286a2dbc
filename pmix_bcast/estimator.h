/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * estimator.h - which node holds which chunk by now, without asking.  Pure.
 *
 * The start time, the tree's shape and a chunk's time on a link tell when any
 * node is pushed any chunk (CN 102486739).  Here that time is not configured:
 * each chunk that arrives on its way corrects it.  A "not here" answer adds a
 * correction, too, and several in a row silence the node for a while, longer
 * each time.  Times are seconds of the caller's own clock, so that no clocks
 * need to agree.
 */
#ifndef PMIX_BCAST_ESTIMATOR_H
#define PMIX_BCAST_ESTIMATOR_H

#include "pmix_bcast/plan.h"

struct estimator {
    const struct plan *plan;
    double start;       /* when home began */
    double slot;        /* of one chunk on one link; 0 until one has come */
    double shift;       /* the correction */
    double quiet_until; /* nothing should be asked for until then */
    uint64_t seen;      /* slots of the latest chunk that came its way */
    unsigned refusals;  /* in a row */
};

/* slot: what is known before the first chunk, or 0. */
void estimator_init(struct estimator *e,
                    const struct plan *p,
                    double start,
                    double slot);
/* A chunk was pushed to node (us) at now. */
void estimator_saw(struct estimator *e,
                   uint32_t node,
                   uint32_t chunk,
                   double now);
/* Nothing has come to node (us) for long, whatever was expected: from now on the
 * chunk counts as late, and all others accordingly. */
void estimator_missed(struct estimator *e,
                      uint32_t node,
                      uint32_t chunk,
                      double now);
/* A node did not hold what it should hold by now. */
void estimator_refused(struct estimator *e, double now);
/* A node did hold it. */
void estimator_confirmed(struct estimator *e);

/* Should node, which is pushed the chunk, hold it by now? */
int estimator_holds(const struct estimator *e,
                    uint32_t node,
                    uint32_t chunk,
                    double now);
/* Is it so late at node that something must be wrong on its way? */
int estimator_late(const struct estimator *e,
                   uint32_t node,
                   uint32_t chunk,
                   double now);

#endif
