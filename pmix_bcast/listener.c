/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/listener.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

struct listener {
    struct listener_setup s;
    struct evconnlistener *ev[LISTEN_MAX];
    unsigned n_ev;
    struct event *resume;
    TAILQ_HEAD(unproven_list, unproven) unproven; /* the oldest first */
    unsigned n_unproven, turn, parts;
    int pause_ms;
    int said_full;
};

/* --- turns ---------------------------------------------------------------- */

/* A pause has this many parts, as a proof takes so many turns of the loop: on a
   machine that is far too busy one turn may take longer than the pause, and who has
   not been heard would be turned out as if silent. */
#define PAUSE_PARTS 4

static int wait_part(struct listener *l)
{
    long us = l->pause_ms * 1000L / PAUSE_PARTS;
    struct timeval tv = {us / 1000000, us % 1000000};

    return evtimer_add(l->resume, &tv);
}

static void pause_for(struct listener *l, int ms)
{
    l->pause_ms = ms;
    l->parts = PAUSE_PARTS;
    if (wait_part(l) < 0)
        return; /* it goes on at once */
    for (unsigned i = 0; i < l->n_ev; i++)
        (void)evconnlistener_disable(l->ev[i]);
}

static void resume(struct listener *l)
{
    l->turn = 0;
    (void)event_del(l->resume);
    for (unsigned i = 0; i < l->n_ev; i++)
        (void)evconnlistener_enable(l->ev[i]);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
    struct listener *l = arg;

    (void)fd;
    (void)what;
    if (--l->parts == 0 || wait_part(l) < 0)
        resume(l);
}

static void on_accept(struct evconnlistener *ev,
                      evutil_socket_t fd,
                      struct sockaddr *from,
                      int len,
                      void *arg)
{
    struct listener *l = arg;

    (void)ev;
    (void)from;
    (void)len;
    if (++l->turn == TURN_CALLERS)
        pause_for(l, PAUSE_MS);
    l->s.called(l->s.arg, l, fd);
}

/* accept() has failed: for want of descriptors, as others do not last. */
static void on_error(struct evconnlistener *ev, void *arg)
{
    struct listener *l = arg;
    int why = errno;

    (void)ev;
    pause_for(l, FULL_MS);
    if (!l->said_full && l->s.full)
        l->s.full(l->s.arg, strerror(why));
    l->said_full = 1;
}

/* --- connections ---------------------------------------------------------- */

void listener_admit(struct listener *l, struct unproven *u, struct handshake *h)
{
    handshake_listen(h, l->s.secret, l->s.purpose, l->s.self);
    if (l->n_unproven == UNPROVEN_MAX) {
        struct unproven *oldest = TAILQ_FIRST(&l->unproven);

        listener_release(oldest);
        oldest->end(oldest, "too many others call");
    }
    u->listener = l;
    TAILQ_INSERT_TAIL(&l->unproven, u, next);
    l->n_unproven++;
}

void listener_release(struct unproven *u)
{
    struct listener *l = u->listener;

    if (!l)
        return;
    u->listener = NULL;
    TAILQ_REMOVE(&l->unproven, u, next);
    l->n_unproven--;
    if (l->turn >= TURN_CALLERS && l->n_unproven < TURN_CALLERS)
        resume(l);
}

/* --- begin and end -------------------------------------------------------- */

/* For a port that is free at all addresses, where any will do. */
#define TRIES 20

static void add_address(struct listen_at *l, const struct address *a)
{
    for (uint32_t i = 0; i < l->n && l->n <= LISTEN_MAX; i++)
        if (l->at[i].len == a->len && memcmp(&l->at[i].at, &a->at, a->len) == 0)
            return;
    if (l->n < LISTEN_MAX)
        l->at[l->n] = *a;
    if (l->n <= LISTEN_MAX)
        l->n++;
}

void listen_at_add(struct listen_at *l, const char *address)
{
    struct address a;

    if (address_parse(&a, address, 0) == 0)
        add_address(l, &a);
    else
        l->n = LISTEN_MAX + 1;
}

void listen_at_networks(struct listen_at *l, const struct networks *ours)
{
    struct address a;

    for (uint32_t i = 0; i < ours->n; i++) {
        const struct network *n = &ours->at[i];

        network_address(&a, n, if_nametoindex(n->name), 0);
        add_address(l, &a);
    }
}

/* A socket of IPv6 takes callers of IPv4, too. */
static int open_socket(const struct address *a)
{
    int no = 0, yes = 1,
        fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    0);

    if (fd < 0)
        return -1;
    if ((a->at.ss_family == AF_INET6
         && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) < 0)
        || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0
        || setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes) < 0
        || bind(fd, (const struct sockaddr *)&a->at, a->len) < 0) {
        evutil_closesocket(fd);
        return -1;
    }
    return fd;
}

static int bind_address(struct listener *l, const struct address *a)
{
    struct evconnlistener *ev;
    int saved, fd = open_socket(a);

    if (fd < 0)
        return -1;
    ev = evconnlistener_new(l->s.base, on_accept, l,
                            LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE,
                            SOMAXCONN, fd);
    if (ev) {
        evconnlistener_set_error_cb(ev, on_error);
        l->ev[l->n_ev++] = ev;
        return 0;
    }
    saved = errno;
    evutil_closesocket(fd);
    errno = saved;
    return -1;
}

static int bind_text(struct listener *l, const char *text, uint16_t port)
{
    struct address a;

    return address_parse(&a, text, port) < 0 ? -1 : bind_address(l, &a);
}

static void close_all(struct listener *l)
{
    int saved = errno;

    while (l->n_ev > 0)
        evconnlistener_free(l->ev[--l->n_ev]);
    errno = saved;
}

/* At each of those addresses, and with port 0 at the one that the first gets. */
static int bind_each(struct listener *l, uint16_t port)
{
    for (uint32_t i = 0; i < l->s.at->n; i++) {
        struct address a = l->s.at->at[i];

        address_set_port(&a, i > 0 ? listener_port(l) : port);
        if (bind_address(l, &a) < 0) {
            close_all(l);
            return -1;
        }
    }
    return 0;
}

static int bind_port(struct listener *l, uint16_t port)
{
    unsigned tries = port == 0 ? TRIES : 1;

    if (l->s.loopback)
        return bind_text(l, address_loopback_text(l->s.loopback), port);
    if (l->s.at && l->s.at->n > 0 && l->s.at->n <= LISTEN_MAX) {
        do {
            if (bind_each(l, port) == 0)
                return 0;
        } while (errno == EADDRINUSE && --tries > 0);
        if (errno == EADDRINUSE)
            return -1;
    }
    if (bind_text(l, "::", port) == 0)
        return 0;
    /* A kernel may be without IPv6. */
    return errno == EADDRINUSE ? -1 : bind_text(l, "0.0.0.0", port);
}

int listener_open(struct listener **out,
                  const struct listener_setup *setup,
                  struct es_error *err)
{
    struct listener *l = calloc(1, sizeof *l);
    struct port_range range = setup->ports;

    if (!l)
        return es_no_memory(err);
    l->s = *setup;
    TAILQ_INIT(&l->unproven);
    l->resume = evtimer_new(setup->base, on_resume, l);
    for (int port = range.low; l->resume && port <= range.high && l->n_ev == 0;
         port++)
        (void)bind_port(l, (uint16_t)port);
    l->s.at = NULL;
    if (l->n_ev == 0) {
        es_fail(err, ES_ENV, "free a port or widen SrunPortRange",
                "no port of %u-%u can be listened on: %s", range.low,
                range.high, strerror(errno));
        listener_close(l);
        return -1;
    }
    *out = l;
    return 0;
}

uint16_t listener_port(const struct listener *l)
{
    struct address a = {.len = sizeof a.at};

    if (getsockname(evconnlistener_get_fd(l->ev[0]), (struct sockaddr *)&a.at,
                    &a.len)
        < 0)
        return 0;
    return address_port((const struct sockaddr *)&a.at);
}

void listener_set_self(struct listener *l, uint32_t self)
{
    l->s.self = self;
}

void listener_close(struct listener *l)
{
    int saved = errno;
    struct unproven *u;

    if (!l)
        return;
    l->turn = 0; /* nothing resumes */
    while ((u = TAILQ_FIRST(&l->unproven)) != NULL) {
        listener_release(u);
        u->end(u, "nobody is let in any more");
    }
    close_all(l);
    if (l->resume)
        event_free(l->resume);
    free(l);
    errno = saved;
}
