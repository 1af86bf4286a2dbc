/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * awake.h - the beat of the clock (clock.h) of an event loop, and who is told
 * that this process was stopped.
 */
#ifndef LAUNCHER_BASE_AWAKE_H
#define LAUNCHER_BASE_AWAKE_H

#include <stdint.h>

struct awake;
struct event_base;

/* woken(arg) is called, from the loop, soon after a stop; NULL: nobody is
 * told.  Returns NULL without memory: then time goes on while we stand still.
 */
struct awake *awake_start(struct event_base *base,
                          void (*woken)(void *arg),
                          void *arg);
void awake_stop(struct awake *a); /* NULL is allowed */

#endif
