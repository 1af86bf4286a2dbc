/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/greeting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call that a firewall drops is told long before it is given up: TCP calls for the
 * second time after 1 s, and an answer to that has come by then. */
#define SILENT_MS 1500

struct greeting {
    struct link *link;
    struct event *silent;
    struct endpoint to;
    greeting_fn fn;
    void *arg;
    int said, told;
};

static void name_it(char text[TEXT_MAX],
                    const struct endpoint *to,
                    const char *why)
{
    char at[ADDRESS_PORT_MAX];

    address_join(at, to->address, to->port);
    snprintf(text, TEXT_MAX, "%s at %s: %.120s", to->node, at, why);
}

static void report_reached(struct greeting *g, int reached, const char *why)
{
    char text[TEXT_MAX];

    if (g->told)
        return;
    g->told = 1;
    if (g->silent)
        (void)event_del(g->silent); /* no loop waits for it */
    name_it(text, &g->to, why);
    g->fn(g->arg, reached, text);
}

static void on_opened(struct link *l, void *arg)
{
    (void)arg;
    link_wake(l);
}

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    (void)l;
    (void)arg;
    (void)h;
    return NULL;
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct greeting *g = arg;

    (void)l;
    (void)fd;
    (void)at;
    if (g->said)
        return 0;
    g->said = 1;
    h->type = LINK_GREET;
    return 1;
}

static void on_sent(struct link *l, void *arg, const struct link_head *h)
{
    (void)l;
    (void)arg;
    (void)h;
}

/* The answer ends the link: greeting_destroy() need not wait for it. */
static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct greeting *g = arg;

    (void)bytes;
    if (h->type != LINK_GREETED)
        return -1;
    g->link = NULL;
    link_destroy(l);
    report_reached(g, 1, "reached");
    return 0;
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct greeting *g = arg;

    (void)l;
    g->link = NULL;
    report_reached(g, 0, why);
}

static const struct link_events events = {
    .opened = on_opened,
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .sent = on_sent,
    .closed = on_closed,
};

static void on_silent(evutil_socket_t fd, short what, void *arg)
{
    struct greeting *g = arg;

    (void)fd;
    (void)what;
    if (g->link && link_is_calling(g->link))
        report_reached(g, 0, "no answer within 1.5 s");
}

/* NULL with errno set if it cannot even begin. */
static struct greeting *begin(struct event_base *base,
                              const struct endpoint *to,
                              const struct parties *parties,
                              const struct secret *secret)
{
    const struct timeval silent = {SILENT_MS / 1000, SILENT_MS % 1000 * 1000};
    struct address at;
    struct greeting *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->to = *to;
    g->silent = evtimer_new(base, on_silent, g);
    if (address_parse(&at, to->address, to->port) < 0)
        errno = EINVAL;
    else
        g->link = link_call(base, (const struct sockaddr *)&at.at, at.len,
                            secret, parties, &events, g);
    if (!g->link) {
        greeting_destroy(g);
        return NULL;
    }
    if (g->silent) /* else it is told when the call is given up */
        (void)evtimer_add(g->silent, &silent);
    return g;
}

struct greeting *greeting_start(struct event_base *base,
                                const struct endpoint *to,
                                const struct parties *parties,
                                const struct secret *secret,
                                greeting_fn fn,
                                void *arg)
{
    struct greeting *g = begin(base, to, parties, secret);
    char text[TEXT_MAX];

    if (g) {
        g->fn = fn;
        g->arg = arg;
        return g;
    }
    name_it(text, to,
            errno == EINVAL ? "this node cannot use that address"
                            : strerror(errno));
    fn(arg, 0, text);
    return NULL;
}

void greeting_destroy(struct greeting *g)
{
    int saved = errno;

    if (g) {
        link_destroy(g->link);
        if (g->silent)
            event_free(g->silent);
    }
    free(g);
    errno = saved;
}
