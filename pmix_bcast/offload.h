/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offload.h - work that takes long, in a thread of its own beside the loop; and
 * many small things that a few threads do together.
 */
#ifndef PMIX_BCAST_OFFLOAD_H
#define PMIX_BCAST_OFFLOAD_H

#include <stdint.h>

struct event_base;
struct offload;

/* work() runs in a thread; ended() is called once, from the loop, with what it
 * has returned: offload_destroy() may be called there.  NULL: no thread could
 * be made, and nothing is called. */
struct offload *offload_start(struct event_base *base,
                              int (*work)(void *arg),
                              void (*ended)(void *arg, int result),
                              void *arg);
/* Waits until work() has returned; NULL is allowed. */
void offload_destroy(struct offload *o);

/* Call one(arg, i) for all i from 0 to n - 1, in as many threads as there are
 * CPUs for us, four at most.  Returns 0, or what a call that was not 0 has
 * returned; then others may not have been made. */
int offload_each(uint32_t n, int (*one)(void *arg, uint32_t i), void *arg);

#endif
