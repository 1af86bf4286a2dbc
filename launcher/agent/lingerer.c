/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/lingerer.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/step_dir.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/pending.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

struct lingerer {
    struct lingerer_setup s;
    struct listener *listener;
    struct pending_list pending;
    struct event *end;
    char dir[STEP_NAME_MAX]; /* as in the setup, while nobody has come */
};

static void on_front_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    struct pending *p = arg;
    struct lingerer *l = p->owner;
    uint32_t port;

    if (type != MSG_RECALL || msg_read_u32(&port, body, len) < 0 || port == 0
        || port > UINT16_MAX) {
        pending_end(p);
        return;
    }
    pending_leave(p);
    l->dir[0] = '\0'; /* it is that front end's */
    l->s.called(l->s.arg, c, (uint16_t)port);
}

static void on_front_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    pending_leave(arg);
}

static const struct channel_events events = {
    .message = on_front_message,
    .closed = on_front_closed,
};

static void on_called(void *arg, struct listener *listener, int fd)
{
    struct lingerer *l = arg;

    (void)pending_accept_channel(&l->pending, l->s.base, fd, listener, &events);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct lingerer *l = arg;

    (void)fd;
    (void)what;
    l->s.over(l->s.arg);
}

static int start(struct lingerer *l)
{
    const struct listener_setup setup = {.base = l->s.base,
                                         .secret = l->s.secret,
                                         .purpose = PURPOSE_RECALL,
                                         .self = l->s.self,
                                         .ports = l->s.ports,
                                         .at = l->s.at,
                                         .called = on_called,
                                         .full = file_limit_reached,
                                         .arg = l};
    const struct timeval end = {l->s.seconds, 0};

    l->end = evtimer_new(l->s.base, on_end, l);
    if (!l->end || evtimer_add(l->end, &end) < 0)
        return -1;
    return listener_open(&l->listener, &setup, NULL);
}

struct lingerer *lingerer_open(const struct lingerer_setup *setup)
{
    struct lingerer *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->s = *setup;
    pending_init(&l->pending, l);
    if (start(l) < 0) {
        lingerer_close(l);
        return NULL;
    }
    snprintf(l->dir, sizeof l->dir, "%s", setup->dir);
    return l;
}

uint16_t lingerer_port(const struct lingerer *l)
{
    return listener_port(l->listener);
}

void lingerer_close(struct lingerer *l)
{
    int saved = errno;

    if (!l)
        return;
    pending_clear(&l->pending);
    listener_close(l->listener);
    if (l->end)
        event_free(l->end);
    if (l->dir[0])
        step_dir_remove(l->dir);
    free(l);
    errno = saved;
}
