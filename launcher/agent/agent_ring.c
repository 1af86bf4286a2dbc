/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rate is taken between arrivals, from the first one after half of the
 * round on.  Before that TCP starts slowly, a shaper lets a burst through at a
 * speed that it then never has again, and what the round before has left in
 * its queue goes first.
 */
#include "launcher/agent/agent_ring.h"
#include "launcher/base/file_limit.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdlib.h>

#define FILLER   8192u        /* bytes of a message: some at 1 Mbit/s, too */
#define WINDOW   (128u << 10) /* is under way at most: see fill_pipe() */
#define BATCH_NS 500000 /* what one look at the socket brings came before */

enum { DATA = MESSAGE_FREE, TAKEN }; /* between these two there is no other */

struct agent_ring {
    struct event_base *base;
    struct secret secret;
    uint32_t self;
    struct listener *listener;
    struct channel *in, *out;
    struct event *timer;
    agent_ring_fn fn; /* NULL: no round is under way */
    void *arg;
    int64_t skip_ns; /* of what comes in, from its first byte on */
    int64_t first_ns, from_ns, last_ns; /* of batches */
    uint64_t bytes;                     /* after from_ns */
    size_t under_way;                   /* sent, and not yet taken */
};

/* --- what goes out -------------------------------------------------------- */

/* No more than a shaper or a switch will queue: with one packet lost too many
 * TCP would stand still for longer than a round. */
static void fill_pipe(struct agent_ring *r)
{
    static const uint8_t filler[FILLER];

    for (; r->under_way < WINDOW; r->under_way += FILLER)
        if (channel_send(r->out, DATA, filler, sizeof filler) < 0)
            return;
}

static void on_out_opened(struct channel *c, void *arg)
{
    (void)c;
    fill_pipe(arg);
}

static void on_out_message(struct channel *c,
                           void *arg,
                           uint16_t type,
                           const uint8_t *body,
                           size_t len)
{
    struct agent_ring *r = arg;

    (void)body;
    if (type != TAKEN || len > 0 || r->under_way < FILLER) {
        channel_hang_up(c);
        return;
    }
    r->under_way -= FILLER;
    fill_pipe(r);
}

static void on_out_closed(struct channel *c, void *arg, const char *why)
{
    struct agent_ring *r = arg;

    (void)c;
    (void)why;
    r->out = NULL;
}

static const struct channel_events out_events = {
    .opened = on_out_opened,
    .message = on_out_message,
    .closed = on_out_closed,
};

/* --- what comes in -------------------------------------------------------- */

/* A round has one sender: the last that has proved to be one of us.  Others
 * may call as they like. */
static void on_in_opened(struct channel *c, void *arg)
{
    struct agent_ring *r = arg;

    channel_destroy(r->in);
    r->in = c;
}

/* It may come before our own round has begun. */
static void on_in_message(struct channel *c,
                          void *arg,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len)
{
    struct agent_ring *r = arg;
    int64_t now = clock_ns();

    (void)body;
    if (type != DATA || len != FILLER || channel_send(c, TAKEN, NULL, 0) < 0) {
        channel_hang_up(c);
        return;
    }
    if (r->first_ns == 0)
        r->first_ns = now;
    if (now - r->last_ns > BATCH_NS)
        r->last_ns = now;
    if (r->from_ns == 0 && r->skip_ns > 0
        && r->last_ns - r->first_ns >= r->skip_ns)
        r->from_ns = r->last_ns;
    if (r->from_ns > 0 && r->last_ns > r->from_ns)
        r->bytes += len;
}

// cppcheck-suppress constParameter ; a callback has this type
static void on_in_closed(struct channel *c, void *arg, const char *why)
{
    struct agent_ring *r = arg;

    (void)why;
    if (c == r->in)
        r->in = NULL;
}

static const struct channel_events in_events = {
    .opened = on_in_opened,
    .message = on_in_message,
    .closed = on_in_closed,
};

static void forget(struct agent_ring *r)
{
    channel_destroy(r->in);
    channel_destroy(r->out);
    r->in = r->out = NULL;
    r->first_ns = r->from_ns = r->last_ns = r->skip_ns = 0;
    r->bytes = r->under_way = 0;
}

/* Until it has proved itself the listener keeps it. */
static void on_called(void *arg, struct listener *l, int fd)
{
    struct agent_ring *r = arg;

    (void)channel_take(r->base, fd, l, &in_events, r);
}

/* --- the round ------------------------------------------------------------ */

static void on_ring_timer(evutil_socket_t fd, short what, void *arg)
{
    struct agent_ring *r = arg;
    agent_ring_fn fn = r->fn;
    double rate = 0;

    (void)fd;
    (void)what;
    if (r->bytes > 0 && r->last_ns > r->from_ns)
        rate = (double)r->bytes * 1e9 / (double)(r->last_ns - r->from_ns);
    forget(r);
    r->fn = NULL;
    if (fn)
        fn(r->arg, rate);
}

int agent_ring_round(struct agent_ring *r,
                     const struct endpoint *to,
                     uint32_t receiver,
                     uint32_t ms,
                     agent_ring_fn fn,
                     void *arg)
{
    const struct parties parties = {PURPOSE_RING, r->self, receiver};
    struct address at;
    const struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (r->fn || evtimer_add(r->timer, &tv) < 0)
        return -1;
    r->fn = fn;
    r->arg = arg;
    r->skip_ns = (int64_t)ms * 1000000 / 2;
    if (!to)
        return 0;
    if (address_parse(&at, to->address, to->port) == 0)
        r->out = channel_call(r->base, (const struct sockaddr *)&at.at, at.len,
                              &r->secret, &parties, &out_events, r);
    return 0;
}

struct agent_ring *agent_ring_open(struct event_base *base,
                                   const struct secret *secret,
                                   uint32_t self,
                                   struct port_range ports,
                                   const struct listen_at *at)
{
    struct agent_ring *r = calloc(1, sizeof *r);
    struct listener_setup door = {.base = base,
                                  .purpose = PURPOSE_RING,
                                  .self = self,
                                  .ports = ports,
                                  .at = at,
                                  .called = on_called,
                                  .full = file_limit_reached,
                                  .arg = r};

    if (!r)
        return NULL;
    r->self = self;
    door.secret = &r->secret;
    r->base = base;
    r->secret = *secret;
    r->timer = evtimer_new(base, on_ring_timer, r);
    if (!r->timer || listener_open(&r->listener, &door, NULL) < 0) {
        agent_ring_close(r);
        return NULL;
    }
    return r;
}

void agent_ring_close(struct agent_ring *r)
{
    int saved = errno;

    if (!r)
        return;
    forget(r);
    listener_close(r->listener);
    if (r->timer)
        event_free(r->timer);
    free(r);
    errno = saved;
}

uint16_t agent_ring_port(const struct agent_ring *r)
{
    return listener_port(r->listener);
}
