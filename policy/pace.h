/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace.h - how often one front end may hear of many nodes, or look at them.
 *
 * Pure.  What each of n nodes says at a steady pace, and a look at each of
 * them, costs the front end n times its price: so that it has time for the
 * work itself, both become rarer as n grows.  Of small jobs nothing changes.
 */
#ifndef POLICY_PACE_H
#define POLICY_PACE_H

#include <stddef.h>
#include <stdint.h>

/* Progress records a second, of all nodes together.  One costs the front end
 * some 5 us (to read and to check it, and its part of a look): a twentieth of a
 * core.  100 nodes send one every 10 ms, 1,000 every 100 ms, 16,384 every
 * 1.6 s. */
#define PACE_RECORDS_PER_S 10000u

/* From one look at the tail to the next, a node: a look takes some 50 ns a node
 * (2026-11, 2 cores of a Xeon), so a twentieth of a core again. */
#define PACE_LOOK_NS 1000
/* With so many nodes or fewer nobody waits: a look costs less than a message.
 */
#define PACE_LOOK_FREE 256u

/* From one fit of what pieces cost to the next within a frame: a fit takes 8 us a
 * node of few and 3 us of 1,000, of which it takes a sample; a hundredth of a
 * core at 1,000. */
#define PACE_FIT_NS    300000
#define PACE_FIT_NODES 2000u

/* Milliseconds between two records of one of n nodes; least: what the user
 * wants, and gets as long as they are few.  From least to UINT32_MAX. */
uint32_t pace_record_ms(size_t n, uint32_t least);
/* Nanoseconds between two looks at the tail of n nodes; 0: at any time. */
int64_t pace_look_ns(size_t n);
/* Nanoseconds between two fits of what pieces cost on n nodes. */
int64_t pace_fit_ns(size_t n);

#endif
