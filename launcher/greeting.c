/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/greeting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Connections that may be open at once: one agent greets us, the rest is for
 * strangers, who are dropped after HANDSHAKE_MS. */
#define GUESTS_MAX 64

struct greeting {
    struct channel *channel;
    struct endpoint to;
    greeting_fn fn;
    void *arg;
};

static void tell(struct greeting *g, int reached, const char *why)
{
    char text[TEXT_MAX];

    snprintf(text, sizeof text, "%s at %s:%u: %.120s", g->to.node,
             g->to.address, g->to.port, why);
    g->fn(g->arg, reached, text);
}

static void on_opened(struct channel *c, void *arg)
{
    (void)arg;
    if (channel_send(c, MSG_GREET, NULL, 0) < 0)
        channel_hang_up(c);
}

static void on_greeted(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct greeting *g = arg;

    (void)body;
    (void)len;
    g->channel = NULL;
    channel_destroy(c);
    tell(g, type == MSG_GREETED,
         type == MSG_GREETED ? "reached" : "unexpected answer");
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct greeting *g = arg;

    (void)c;
    g->channel = NULL;
    tell(g, 0, why);
}

static const struct channel_events events = {
    .opened = on_opened,
    .message = on_greeted,
    .closed = on_closed,
};

struct greeting *greeting_start(struct event_base *base,
                                const struct endpoint *to,
                                const struct secret *secret,
                                greeting_fn fn,
                                void *arg)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct greeting *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->to = *to;
    g->fn = fn;
    g->arg = arg;
    in.sin_port = htons(to->port);
    if (inet_pton(AF_INET, to->address, &in.sin_addr) == 1)
        g->channel = channel_call(base, (const struct sockaddr *)&in, sizeof in,
                                  secret, &events, g);
    if (!g->channel) {
        free(g);
        return NULL;
    }
    return g;
}

void greeting_destroy(struct greeting *g)
{
    int saved = errno;

    if (g)
        channel_destroy(g->channel);
    free(g);
    errno = saved;
}

/* --- the other side ------------------------------------------------------- */

struct greeter {
    struct event_base *base;
    struct secret secret;
    struct channel *guest[GUESTS_MAX];
};

static struct channel **find(struct greeter *g, const struct channel *c)
{
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (g->guest[i] == c)
            return &g->guest[i];
    return NULL;
}

static void on_guest_opened(struct channel *c, void *arg)
{
    (void)c;
    (void)arg;
}

static void on_guest_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    struct channel **place = find(arg, c);

    (void)body;
    if (type == MSG_GREET && len == 0
        && channel_send(c, MSG_GREETED, NULL, 0) == 0)
        return;
    if (place)
        *place = NULL;
    channel_destroy(c);
}

static void on_guest_closed(struct channel *c, void *arg, const char *why)
{
    struct channel **place = find(arg, c);

    (void)why;
    if (place)
        *place = NULL;
}

static const struct channel_events guest_events = {
    .opened = on_guest_opened,
    .message = on_guest_message,
    .closed = on_guest_closed,
};

struct greeter *greeter_create(struct event_base *base,
                               const struct secret *secret)
{
    struct greeter *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->base = base;
    g->secret = *secret;
    return g;
}

void greeter_take(void *arg, int fd)
{
    struct greeter *g = arg;
    struct channel **place = find(g, NULL);

    if (place)
        *place = channel_take(g->base, fd, &g->secret, &guest_events, g);
    else
        close(fd);
}

void greeter_destroy(struct greeter *g)
{
    int saved = errno;

    for (size_t i = 0; g && i < GUESTS_MAX; i++)
        channel_destroy(g->guest[i]);
    free(g);
    errno = saved;
}
