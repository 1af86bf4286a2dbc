/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop.h - for tests of what lives in an event loop: turn it until something
 * holds.
 *
 *   base = event_base_new();
 *   until(guest.taken == 3);
 *   ok(guest.taken == 3, "three messages arrive");
 */
#ifndef LOOP_H
#define LOOP_H

#include <event2/event.h>
#include <stdint.h>
#include <time.h>

/* For what must come: on a machine that others use, too, it may take long. */
#define LIMIT_MS 60000

static struct event_base *base;

static inline int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Turn the loop until c holds, or the limit. */
#define until(c)                                                               \
    do {                                                                       \
        int64_t limit = now_ms() + LIMIT_MS;                                   \
        while (!(c) && now_ms() < limit)                                       \
            event_base_loop(base, EVLOOP_ONCE);                                \
    } while (0)

#endif
