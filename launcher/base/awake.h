/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * awake.h - calls clock_beat() (clock.h) from an event loop, and reports when
 * this process was stopped and goes on.
 */
#ifndef LAUNCHER_BASE_AWAKE_H
#define LAUNCHER_BASE_AWAKE_H

#include <stdint.h>

struct awake;
struct event_base;

/* woken(arg), which may be NULL, is called from the loop soon after a stop.
 * Returns NULL if memory ran out: then the time of a stop counts as any other.
 */
struct awake *awake_start(struct event_base *base,
                          void (*woken)(void *arg),
                          void *arg);
void awake_stop(struct awake *a); /* NULL is allowed */

#endif
