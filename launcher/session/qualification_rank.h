/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qualification_rank.h - from what the nodes have answered to their metrics and
 * the first ranking.
 */
#ifndef LAUNCHER_SESSION_QUALIFICATION_RANK_H
#define LAUNCHER_SESSION_QUALIFICATION_RANK_H

#include "launcher/session/qualification_state.h"

/* What agents of one machine have in common: each would measure how much the
 * others leave of it at that moment. */
#define QUALIFICATION_SHARED                                                   \
    (PROBE_BIT(ELEMENT_M) | PROBE_BIT(ELEMENT_I) | PROBE_BIT(ELEMENT_B))

/* What a profile counts most. */
double qualification_highest(const struct profile *p);
/* How many nodes' links were measured by what they carried. */
size_t qualification_between(const struct qualification *q);
/* What is known of all nodes, each element in all of them or in none. */
void qualification_complete(struct qualification *q, int left_out[ELEMENTS]);
/* And rank them by it, with a line on what is missing. */
void qualification_rank(struct qualification *q);
/* n >= 1 nodes that are alike. */
void qualification_rank_equal(struct qualification *q);
/* All are ranked.  Has the node less of something than the profile needs (profile {
 * need }), so that it gets no work?  Says that in a line and returns 1; else 0.  Of
 * what is not known it counts as having enough. */
int qualification_lacks(const struct qualification *q, size_t node);

#endif
