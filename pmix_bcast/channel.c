/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A channel is a libevent bufferevent and a stage: of the handshake, then
 * open.  Callbacks are deferred to the loop, so none runs inside a call of
 * ours; one may destroy its own channel, so the struct is freed only when
 * none is running (`busy`).
 */
#include "pmix_bcast/channel.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/message.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PULSE_MS 1000

enum stage { CALLING, SHAKING, OPEN, DEAD };

struct channel {
    enum stage stage;
    int busy; /* callbacks of this channel now on the stack */
    struct bufferevent *bev;
    struct event *pulse; /* looks every second for signs of life */
    int pulses;
    struct handshake handshake;
    const struct channel_events *on;
    void *arg;
};

static void release(struct channel *c)
{
    if (c->stage != DEAD || c->busy > 0)
        return;
    if (c->pulse)
        event_free(c->pulse);
    if (c->bev)
        bufferevent_free(c->bev);
    handshake_clear(&c->handshake);
    free(c);
}

static void give_up(struct channel *c, const char *why)
{
    if (c->stage == DEAD)
        return;
    c->stage = DEAD;
    c->on->closed(c, c->arg, why);
}

static int queue(struct channel *c, uint16_t type, const void *body, size_t len)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    struct message_head head = {type, (uint32_t)len};
    uint8_t bytes[MESSAGE_HEAD];

    message_encode(bytes, &head);
    if (evbuffer_expand(out, sizeof bytes + len) < 0
        || evbuffer_add(out, bytes, sizeof bytes) < 0)
        return -1;
    return len > 0 ? evbuffer_add(out, body, len) : 0;
}

static void open_up(struct channel *c)
{
    c->stage = OPEN;
    c->on->opened(c, c->arg);
}

static void shake(struct channel *c,
                  uint16_t type,
                  const uint8_t *body,
                  size_t len)
{
    uint8_t out[HANDSHAKE_MAX];
    size_t n;

    if (handshake_step(&c->handshake, &type, body, len, out, &n) < 0)
        give_up(c, "the other end does not know this step's secret");
    else if (n > 0 && queue(c, type, out, n) < 0)
        give_up(c, "out of memory");
    else if (c->handshake.stage == HANDSHAKE_DONE)
        open_up(c);
}

/* Take one whole message off the input; 0 if there is none. */
static int take_message(struct channel *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    uint32_t bound = c->stage == OPEN ? MESSAGE_BODY_MAX : HANDSHAKE_MAX;
    uint8_t bytes[MESSAGE_HEAD];
    struct message_head head;
    const uint8_t *whole;
    ev_ssize_t n = evbuffer_copyout(in, bytes, sizeof bytes);
    int rc = message_decode(&head, bytes, n < 0 ? 0 : (size_t)n, bound);

    if (rc < 0)
        give_up(c, "the other end does not speak evenstep's protocol");
    if (rc <= 0 || evbuffer_get_length(in) < MESSAGE_HEAD + head.length)
        return 0;
    whole = evbuffer_pullup(in, (ev_ssize_t)(MESSAGE_HEAD + head.length));
    if (!whole) {
        give_up(c, "out of memory");
        return 0;
    }
    if (c->stage == OPEN)
        c->on->message(c, c->arg, head.type, whole + MESSAGE_HEAD, head.length);
    else
        shake(c, head.type, whole + MESSAGE_HEAD, head.length);
    if (c->stage != DEAD)
        evbuffer_drain(in, MESSAGE_HEAD + head.length);
    return c->stage != DEAD;
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct channel *c = arg;

    (void)bev;
    c->busy++;
    while (c->stage != DEAD && take_message(c))
        ;
    c->busy--;
    release(c);
}

static void on_write(struct bufferevent *bev, void *arg)
{
    struct channel *c = arg;

    (void)bev;
    c->busy++;
    if (c->stage == OPEN && c->on->drained)
        c->on->drained(c, c->arg);
    c->busy--;
    release(c);
}

/* Without delay and with probes on an idle line, see channel.h. */
static void tune(int fd)
{
    int yes = 1, seconds = 2;

    /* Each is an improvement, none a condition. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct channel *c = arg;
    uint8_t hello[NONCE_BYTES];

    c->busy++;
    if (what & BEV_EVENT_CONNECTED) {
        tune(bufferevent_getfd(bev));
        caller_hello(&c->handshake, hello);
        c->stage = SHAKING;
        if (queue(c, MESSAGE_HELLO, hello, sizeof hello) < 0)
            give_up(c, "out of memory");
    } else if (what & BEV_EVENT_EOF) {
        give_up(c, c->stage == OPEN ? "the other end has gone"
                                    : "the other end hung up in the handshake");
    } else {
        give_up(c, strerror(errno));
    }
    c->busy--;
    release(c);
}

/* Milliseconds since the kernel last heard an acknowledgement. */
static uint32_t silence_ms(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return 0;
    return info.tcpi_last_ack_recv;
}

static void on_pulse(int fd, short what, void *arg)
{
    struct channel *c = arg;

    (void)fd;
    (void)what;
    c->busy++;
    c->pulses++;
    if (c->stage != OPEN && c->pulses * PULSE_MS >= HANDSHAKE_MS)
        give_up(c, "no answer within 5 s");
    else if (c->stage == OPEN
             && silence_ms(bufferevent_getfd(c->bev)) > SILENCE_MS)
        give_up(c, "no sign of life for 10 s");
    c->busy--;
    release(c);
}

static struct channel *channel_create(struct event_base *base,
                                      int fd,
                                      const struct secret *secret,
                                      const struct channel_events *on,
                                      void *arg)
{
    struct timeval second = {PULSE_MS / 1000, 0};
    struct channel *c = calloc(1, sizeof *c);

    if (!c) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    handshake_init(&c->handshake, secret);
    c->on = on;
    c->arg = arg;
    c->bev = bufferevent_socket_new(
        base, fd, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (!c->bev && fd >= 0)
        close(fd);
    c->pulse = event_new(base, -1, EV_PERSIST, on_pulse, c);
    if (!c->bev || !c->pulse || event_add(c->pulse, &second) < 0) {
        channel_destroy(c);
        return NULL;
    }
    bufferevent_setcb(c->bev, on_read, on_write, on_event, c);
    return c;
}

struct channel *channel_call(struct event_base *base,
                             const struct sockaddr *address,
                             socklen_t len,
                             const struct secret *secret,
                             const struct channel_events *on,
                             void *arg)
{
    struct channel *c = channel_create(base, -1, secret, on, arg);

    if (!c)
        return NULL;
    c->stage = CALLING;
    if (bufferevent_socket_connect(c->bev, address, (int)len) < 0
        || bufferevent_enable(c->bev, EV_READ | EV_WRITE) < 0) {
        channel_destroy(c);
        return NULL;
    }
    return c;
}

struct channel *channel_take(struct event_base *base,
                             int fd,
                             const struct secret *secret,
                             const struct channel_events *on,
                             void *arg)
{
    struct channel *c = channel_create(base, fd, secret, on, arg);

    if (!c)
        return NULL;
    c->stage = SHAKING;
    c->handshake.stage = HANDSHAKE_HELLO;
    tune(fd);
    if (bufferevent_enable(c->bev, EV_READ | EV_WRITE) < 0) {
        channel_destroy(c);
        return NULL;
    }
    return c;
}

void channel_set_events(struct channel *c,
                        const struct channel_events *on,
                        void *arg)
{
    c->on = on;
    c->arg = arg;
}

int channel_is_open(const struct channel *c)
{
    return c && c->stage == OPEN;
}

int channel_send(struct channel *c, uint16_t type, const void *body, size_t len)
{
    if (!channel_is_open(c) || len > MESSAGE_BODY_MAX)
        return -1;
    return queue(c, type, body, len);
}

size_t channel_backlog(const struct channel *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->bev));
}

void channel_backlog_mark(struct channel *c, size_t bytes)
{
    bufferevent_setwatermark(c->bev, EV_WRITE, bytes, 0);
}

void channel_hang_up(struct channel *c)
{
    /* Fails only if the connection has ended, and then closed() comes too. */
    (void)shutdown(bufferevent_getfd(c->bev), SHUT_RDWR);
}

void channel_destroy(struct channel *c)
{
    int saved = errno;

    if (!c)
        return;
    c->stage = DEAD;
    release(c);
    errno = saved;
}

/* --- the listener --------------------------------------------------------- */

struct listener {
    struct evconnlistener *ev;
    listener_fn fn;
    void *arg;
};

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
    l->fn(l->arg, fd);
}

static struct evconnlistener *bind_port(struct listener *l,
                                        struct event_base *base,
                                        int port,
                                        int loopback)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons((uint16_t)port);
    in.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    return evconnlistener_new_bind(
        base, on_accept, l, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, -1,
        (const struct sockaddr *)&in, sizeof in);
}

int listener_open(struct listener **out,
                  struct event_base *base,
                  struct port_range range,
                  int loopback,
                  listener_fn fn,
                  void *arg,
                  struct es_error *err)
{
    struct listener *l = calloc(1, sizeof *l);

    if (!l)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    l->fn = fn;
    l->arg = arg;
    for (int port = range.low; port <= range.high && !l->ev; port++)
        l->ev = bind_port(l, base, port, loopback);
    if (!l->ev) {
        es_fail(err, ES_ENV, "free a port or widen SrunPortRange",
                "no port of %u-%u can be listened on: %s", range.low,
                range.high, strerror(errno));
        free(l);
        return -1;
    }
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

void listener_close(struct listener *l)
{
    int saved = errno;

    if (!l)
        return;
    evconnlistener_free(l->ev);
    free(l);
    errno = saved;
}
