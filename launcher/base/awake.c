/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/awake.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <stdlib.h>

struct awake {
    struct event *beat;
    void (*woken)(void *arg);
    void *arg;
    int64_t stopped_ns; /* already reported */
};

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    struct awake *a = arg;
    int64_t stopped;

    (void)fd;
    (void)what;
    clock_beat();
    stopped = clock_stopped_ns();
    if (stopped == a->stopped_ns)
        return;
    a->stopped_ns = stopped;
    if (a->woken)
        a->woken(a->arg);
}

struct awake *awake_start(struct event_base *base,
                          void (*woken)(void *arg),
                          void *arg)
{
    struct timeval period = {CLOCK_BEAT_S, 0};
    struct awake *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->woken = woken;
    a->arg = arg;
    a->stopped_ns = clock_stopped_ns();
    a->beat = event_new(base, -1, EV_PERSIST, on_beat, a);
    if (a->beat && event_add(a->beat, &period) == 0) {
        clock_beat();
        return a;
    }
    awake_stop(a);
    return NULL;
}

void awake_stop(struct awake *a)
{
    if (!a)
        return;
    clock_end_beats();
    if (a->beat)
        event_free(a->beat);
    free(a);
}
