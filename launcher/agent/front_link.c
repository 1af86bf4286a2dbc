/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/front_link.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command is not read any further while this much of its output waits for
 * the wire, until it is down to a quarter. */
#define BACKLOG_HIGH (4u << 20)
#define BACKLOG_LOW  (BACKLOG_HIGH / 4)

/* How long an agent calls a front end that it has lost.  Longer would mean to
 * call whoever has its address and port by then. */
#define AWAY_S   60
#define AGAIN_MS 1000 /* from one call to the next, and half as much more */
/* For so long one that is turned away at the start comes again, sooner. */
#define START_S   20
#define TURNED_MS 50

struct front_link {
    struct event_base *base;
    const struct agent_setup *setup;
    const struct front_link_events *on;
    void *arg;
    uint16_t port; /* of the front end; at first as in setup */
    uint32_t rank; /* ours */
    struct channel *channel;
    struct event *on_again; /* it is called again */
    int met;                /* it has proved itself, once */
    int is_there;           /* it is, now */
    int dismissed;
    double away;   /* since when it is called, by the clock */
    char why[200]; /* the connection was lost */
};

/* Where the front end is, as people write it. */
static const char *front_name(const struct front_link *l,
                              char name[ADDRESS_PORT_MAX])
{
    address_join(name, l->setup->front_address, l->port);
    return name;
}

/* In ms and up to half of it more, so that not all come at once. */
static void call_later(struct front_link *l, int ms, double until)
{
    int wait = ms + (int)randombytes_uniform((uint32_t)ms / 2 + 1);
    struct timeval delay = {wait / 1000, wait % 1000 * 1000};

    if (clock_s() > until || event_add(l->on_again, &delay) < 0)
        l->on->over(l->arg);
}

/* --- the channel's events ------------------------------------------------- */

static void on_opened(struct channel *c, void *arg)
{
    struct front_link *l = arg;

    channel_backlog_mark(c, BACKLOG_LOW);
    l->met = l->is_there = 1;
    l->on->opened(l->arg);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    const struct front_link *l = arg;

    (void)c;
    l->on->message(l->arg, type, body, len);
}

static void on_drained(struct channel *c, void *arg)
{
    const struct front_link *l = arg;

    (void)c;
    l->on->full(l->arg, 0);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct front_link *l = arg;
    int nobody_listens = strcmp(why, strerror(ECONNREFUSED)) == 0;
    int is_stranger = strcmp(why, CHANNEL_STRANGER) == 0;

    (void)c;
    l->channel = NULL;
    if (l->is_there)
        l->away = clock_s();
    l->is_there = 0;
    snprintf(l->why, sizeof l->why, "%s", why);
    if (l->dismissed || nobody_listens)
        l->on->over(l->arg);
    else if (!l->met && !is_stranger) /* it was turned away */
        call_later(l, TURNED_MS, l->away + START_S);
    else if (l->on->lost(l->arg))
        call_later(l, AGAIN_MS, l->away + AWAY_S);
    else
        l->on->over(l->arg);
}

static const struct channel_events events = {
    .opened = on_opened,
    .message = on_message,
    .drained = on_drained,
    .closed = on_closed,
};

/* --- calls ---------------------------------------------------------------- */

static int call(struct front_link *l, struct es_error *err)
{
    char name[ADDRESS_PORT_MAX];
    const struct parties parties = {PURPOSE_SESSION, l->rank, FRONT_END};
    struct address at;

    (void)address_parse(&at, l->setup->front_address,
                        l->port); /* was checked */
    l->channel = channel_call(l->base, (const struct sockaddr *)&at.at, at.len,
                              &l->setup->secret, &parties, &events, l);
    if (l->channel)
        return 0;
    return es_fail(err, ES_ENV, "let the compute nodes reach the host of srun",
                   "%s: cannot call %s: %s", l->setup->node,
                   front_name(l, name), strerror(errno));
}

static void call_again(evutil_socket_t fd, short what, void *arg)
{
    struct front_link *l = arg;

    (void)fd;
    (void)what;
    if (!l->on->may_call(l->arg))
        call_later(l, AGAIN_MS, l->away + AWAY_S);
    else if (call(l, NULL) < 0)
        l->on->over(l->arg);
}

int front_link_call(struct front_link *l, uint32_t rank, struct es_error *err)
{
    l->rank = rank;
    l->away = clock_s();
    return call(l, err);
}

void front_link_take(struct front_link *l, struct channel *c, uint16_t port)
{
    channel_destroy(l->channel);
    l->channel = c;
    l->port = port;
    l->is_there = 1;
    l->dismissed = 0;
    channel_set_events(c, &events, l);
    channel_backlog_mark(c, BACKLOG_LOW);
}

void front_link_dismiss(struct front_link *l)
{
    l->dismissed = 1;
}

/* --- what is sent --------------------------------------------------------- */

void front_link_send(struct front_link *l,
                     enum protocol_type type,
                     struct writer *w)
{
    struct channel *c = l->channel;
    int lost =
        c && (w->bad || channel_send(c, (uint16_t)type, w->buf, w->len) < 0);

    writer_clear(w);
    if (!c || l->dismissed)
        return;
    if (lost)
        channel_hang_up(c);
    else if ((type == MSG_OUTPUT || type == MSG_FILE)
             && channel_backlog(c) > BACKLOG_HIGH)
        l->on->full(l->arg, 1);
}

/* --- how it is ------------------------------------------------------------ */

int front_link_is_up(const struct front_link *l)
{
    return l->channel != NULL;
}

int front_link_is_open(const struct front_link *l)
{
    return l->is_there;
}

int front_link_was_open(const struct front_link *l)
{
    return l->met;
}

int front_link_fail(const struct front_link *l,
                    const char *mend,
                    struct es_error *err)
{
    char name[ADDRESS_PORT_MAX];

    return es_fail(err, ES_ENV, mend, "%s: no front end at %s: %s",
                   l->setup->node, front_name(l, name), l->why);
}

/* --- begin and end -------------------------------------------------------- */

struct front_link *front_link_create(struct event_base *base,
                                     const struct agent_setup *setup,
                                     const struct front_link_events *on,
                                     void *arg)
{
    struct front_link *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->base = base;
    l->setup = setup;
    l->on = on;
    l->arg = arg;
    l->port = setup->front_port;
    l->on_again = evtimer_new(base, call_again, l);
    if (l->on_again)
        return l;
    free(l);
    return NULL;
}

void front_link_destroy(struct front_link *l)
{
    if (!l)
        return;
    channel_destroy(l->channel);
    event_free(l->on_again);
    free(l);
}
