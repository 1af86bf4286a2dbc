/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/listener.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

struct listener {
    struct listener_setup s;
    struct evconnlistener *ev;
    struct event *resume;
    TAILQ_HEAD(unproven_list, unproven) unproven; /* the oldest first */
    unsigned n_unproven, turn;
    int said_full;
};

/* --- turns ---------------------------------------------------------------- */

static void pause_for(struct listener *l, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (evtimer_add(l->resume, &tv) == 0)
        (void)evconnlistener_disable(l->ev); /* else it goes on at once */
}

static void resume(struct listener *l)
{
    l->turn = 0;
    (void)event_del(l->resume);
    (void)evconnlistener_enable(l->ev);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    resume(arg);
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

static struct evconnlistener *bind_port(struct listener *l, int port)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons((uint16_t)port);
    in.sin_addr.s_addr = htonl(l->s.loopback ? INADDR_LOOPBACK : INADDR_ANY);
    return evconnlistener_new_bind(
        l->s.base, on_accept, l, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE,
        SOMAXCONN, (const struct sockaddr *)&in, sizeof in);
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
    for (int port = range.low; l->resume && port <= range.high && !l->ev;
         port++)
        l->ev = bind_port(l, port);
    if (!l->ev) {
        es_fail(err, ES_ENV, "free a port or widen SrunPortRange",
                "no port of %u-%u can be listened on: %s", range.low,
                range.high, strerror(errno));
        listener_close(l);
        return -1;
    }
    evconnlistener_set_error_cb(l->ev, on_error);
    *out = l;
    return 0;
}

uint16_t listener_port(const struct listener *l)
{
    struct sockaddr_in in = {0};
    socklen_t len = sizeof in;

    if (getsockname(evconnlistener_get_fd(l->ev), (struct sockaddr *)&in, &len)
        < 0)
        return 0;
    return ntohs(in.sin_port);
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
    if (l->ev)
        evconnlistener_free(l->ev);
    if (l->resume)
        event_free(l->resume);
    free(l);
    errno = saved;
}
