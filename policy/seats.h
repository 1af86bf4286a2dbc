/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seats.h - which places of a run the nodes get that join it.
 *
 * A run has as many seats as nodes may join, behind those that it began with.
 * A seat keeps the name of the node that had it: pieces that this one has done
 * are told by it.  So it is for that node again, but for no other.
 */
#ifndef POLICY_SEATS_H
#define POLICY_SEATS_H

#include <stddef.h>

struct seat {
    const char *name; /* of the node that has or had it; "": nobody has */
    int is_there;     /* that node is */
};

enum seats_verdict {
    SEATS_GIVEN,
    SEATS_TAKEN, /* a node is there already, or is named twice */
    SEATS_FULL,  /* there are not enough */
};

/*
 * Find a seat for each of k nodes, all or none: given[] (k) has their places in
 * seat[] (n), of which those before first are the run's own and never given.
 * which: of SEATS_TAKEN that node's place in name[].  O(k (n + k)).
 */
enum seats_verdict seats_give(const struct seat seat[],
                              size_t n,
                              size_t first,
                              const char *const name[],
                              size_t k,
                              size_t given[],
                              size_t *which);

#endif
