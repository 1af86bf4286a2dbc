/* SPDX-License-Identifier: BSD-2-Clause */
/* evenstep was built without libfabric: there is no endpoint, so no lane. */
#include "pmix_bcast/link_lane.h"

#include <stdlib.h>

struct fabric {
    enum transport transport;
    void (*opened)(void *arg);
    void *arg;
    struct event *timer;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    const struct fabric *f = arg;

    (void)fd;
    (void)what;
    f->opened(f->arg);
}

int fabric_is_built(void)
{
    return 0;
}

struct fabric *fabric_open(struct event_base *base,
                           enum transport t,
                           const char *near,
                           void (*opened)(void *arg),
                           void *arg)
{
    struct fabric *f = calloc(1, sizeof *f);
    struct timeval at_once = {0, 0};

    (void)near;
    if (!f)
        return NULL;
    f->transport = t;
    f->opened = opened;
    f->arg = arg;
    f->timer = evtimer_new(base, on_timer, f);
    if (f->timer && event_add(f->timer, &at_once) == 0)
        return f;
    fabric_close(f);
    return NULL;
}

int fabric_is_open(const struct fabric *f)
{
    (void)f;
    return 0;
}

const char *fabric_provider(const struct fabric *f)
{
    (void)f;
    return "";
}

const char *fabric_why(const struct fabric *f)
{
    return f->transport == TRANSPORT_AUTO
               ? ""
               : "evenstep was built without libfabric here";
}

uint64_t fabric_bytes(const struct fabric *f)
{
    (void)f;
    return 0;
}

void fabric_close(struct fabric *f)
{
    if (f && f->timer)
        event_free(f->timer);
    free(f);
}

void link_set_fabric(struct link *l, struct fabric *f, int takes)
{
    (void)l;
    (void)f;
    (void)takes;
}

int link_lane_next(struct link *l)
{
    (void)l;
    return 0;
}

int link_lane_is_open(const struct link *l)
{
    (void)l;
    return 0;
}

int link_lane_is_full(const struct link *l)
{
    (void)l;
    return 0;
}

int link_lane_send(struct link *l)
{
    (void)l;
    return -1;
}

uint8_t *link_lane_place(const struct link *l)
{
    (void)l;
    return NULL;
}

/* Nobody has been offered a lane: such a message is out of place. */
int link_lane_hear(struct link *l, int *is_ours)
{
    *is_ours = l->head.type >= LINK_FABRIC;
    return l->head.type == LINK_FABRIC || !*is_ours ? 0 : -1;
}

uint64_t link_lane_queued(const struct link *l)
{
    (void)l;
    return 0;
}

void link_lane_end(struct link *l)
{
    (void)l;
}
