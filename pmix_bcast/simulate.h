/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulate.h - a broadcast on links that nobody has at hand: the planner,
 * estimator, pulls, relays and feed of the real one, over modelled links.
 *
 * Every node has one link, with a rate for each direction, into a switch that
 * loses nothing; a message takes its bytes over the rate at the sender, the
 * latency, and its turn at the receiver.  A sender does not run ahead of its
 * receiver by more than a chunk, as TCP's window would have it.
 */
#ifndef PMIX_BCAST_SIMULATE_H
#define PMIX_BCAST_SIMULATE_H

#include "pmix_bcast/plan.h"
#include "pmix_bcast/pull.h"

struct simulation {
    struct plan plan;
    enum pull_way way;
    int strict;
    double rate;        /* bytes per second and direction */
    double latency;     /* s */
    double per_message; /* s at the sender, and at the receiver, of a chunk */
    double slow;        /* share of nodes, 0 to 1, with a quarter of the rate */
    uint32_t dead;      /* so many nodes die in the middle of the time */
    uint64_t random;    /* a seed, not 0 */
};

struct simulated {
    double seconds;          /* until the last live node had all */
    double fast_seconds;     /* the last of those with the full rate */
    uint32_t unfinished;     /* live nodes that never had all */
    uint64_t home_bytes;     /* that home sent */
    uint64_t duplicates;     /* bytes that came to a node that had them */
    uint64_t pulls, refused; /* asked for, and "not here" */
    uint64_t events;
};

/* Returns 0, or -1 if memory ran out. */
int simulate(const struct simulation *s, struct simulated *out);

#endif
