/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that is stopped does not see it, but for what it finds when it goes
 * on: a beat that is due every second is late.  Whoever asks for the time first
 * notices, so that no deadline is looked at before.
 */
#include "pmix_bcast/clock.h"

#include <pthread.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
/* So late no loop is that is only busy; its callbacks do not block. */
#define LATE_NS (2 * NS_PER_S)

static int64_t beat_ns; /* the last one; 0: there is none in this process */
static int64_t stopped_ns;

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails for a bad id only */
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void notice(int64_t now)
{
    int64_t late = now - beat_ns - CLOCK_BEAT_S * NS_PER_S;

    if (beat_ns == 0 || late <= LATE_NS)
        return;
    stopped_ns += late;
    beat_ns = now;
}

int64_t clock_ns(void)
{
    int64_t now = now_ns();

    notice(now);
    return now - stopped_ns;
}

double clock_s(void)
{
    return (double)clock_ns() / 1e9;
}

/* A child has no beat. */
static void forget(void)
{
    beat_ns = 0;
}

void clock_beat(void)
{
    static int known;

    if (!known)
        known = pthread_atfork(NULL, NULL, forget) == 0;
    if (!known)
        return;
    notice(now_ns());
    beat_ns = now_ns();
}

int64_t clock_stopped_ns(void)
{
    notice(now_ns());
    return stopped_ns;
}

void clock_end_beats(void)
{
    beat_ns = 0;
}
