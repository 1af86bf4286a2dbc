/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qualification_ask.h - what a node is asked to measure.
 */
#ifndef LAUNCHER_SESSION_QUALIFICATION_ASK_H
#define LAUNCHER_SESSION_QUALIFICATION_ASK_H

#include "launcher/session/qualification_state.h"

/* What the ring has of the budget. */
int qualification_ring_ms(const struct qualification_setup *setup);
/* Mark the nodes that share their machine with another; -1 if memory ran out. */
int qualification_find_shared(struct qualification *q);
/* The PROBE for a node. */
void qualification_write_probe(const struct qualification *q,
                               struct writer *w,
                               size_t node);
/* Is all in it that the node would be asked for?  How much there is of a thing,
 * and what the site's own commands print, may have changed since. */
int qualification_is_enough(const struct qualification *q,
                            size_t node,
                            const struct probe_result result[ELEMENTS]);

#endif
