/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A channel is a stage, of the handshake, then open, and a libevent bufferevent
 * to connect and to send with.  Its callbacks are deferred to the loop, as reading
 * comes from there, so none runs inside a call of ours; one may destroy its own
 * channel, so the struct is freed only when none is running (`busy`).
 *
 * It reads by itself: a bufferevent asks the kernel first how much there is, and
 * takes memory for it, which was a ninth of what a front end of 1,000 agents did.
 * Messages are taken where they were read to; only the beginning of one whose rest is
 * yet to come is kept.
 */
#include "pmix_bcast/channel.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/message.h"
#include "pmix_bcast/seal.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_AT_ONCE (16u << 10)
#define PULSE_MS     1000
/* A message up to this size is sent at once, where nobody waits for drained(),
 * which comes only of what was queued. */
#define SMALL 1024

enum stage { CALLING, SHAKING, OPEN, DEAD };

/* The beginning of a message, in memory for all of it; of its head, if that is not
 * there yet. */
struct begin {
    uint8_t *bytes; /* NULL: there is none */
    size_t n, size;
};

struct channel {
    enum stage stage;
    int busy; /* callbacks of this channel now on the stack */
    int is_caller;
    struct bufferevent *bev;
    struct event *readable;
    struct begin begin;
    struct event *pulse;  /* looks every second for signs of life */
    int pulses, is_heard; /* since the last one */
    struct handshake handshake;
    struct unproven unproven;
    struct seal *out, *in; /* once it is open */
    const struct channel_events *on;
    void *arg;
};

static void release(struct channel *c)
{
    if (c->stage != DEAD || c->busy > 0)
        return;
    if (c->pulse)
        event_free(c->pulse);
    if (c->readable)
        event_free(c->readable);
    if (c->bev)
        bufferevent_free(c->bev);
    free(c->begin.bytes);
    seal_destroy(c->out);
    seal_destroy(c->in);
    handshake_clear(&c->handshake);
    free(c);
}

static void give_up(struct channel *c, const char *why)
{
    if (c->stage == DEAD)
        return;
    c->stage = DEAD;
    listener_release(&c->unproven);
    c->on->closed(c, c->arg, why);
}

/* Head, body and, once it is open, tag, in one piece. */
static int compose(struct channel *c,
                   uint16_t type,
                   const void *body,
                   size_t len,
                   uint8_t *bytes)
{
    size_t tail = c->out ? TAG_BYTES : 0;
    struct message_head head = {type, (uint32_t)(len + tail)};

    message_encode(bytes, &head);
    if (len > 0)
        memcpy(bytes + MESSAGE_HEAD, body, len);
    return c->out ? seal_put(c->out, bytes, MESSAGE_HEAD, bytes + MESSAGE_HEAD,
                             len, bytes + MESSAGE_HEAD + len)
                  : 0;
}

/* Put a message behind what is to be sent. */
static int queue(struct channel *c, uint16_t type, const void *body, size_t len)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    size_t size = MESSAGE_HEAD + len + (c->out ? TAG_BYTES : 0);
    struct evbuffer_iovec room;

    if (evbuffer_reserve_space(out, (ev_ssize_t)size, &room, 1) != 1
        || compose(c, type, body, len, room.iov_base) < 0)
        return -1;
    room.iov_len = size;
    return evbuffer_commit_space(out, &room, 1);
}

/* Send a small message at once, which saves three system calls of four; what the
 * kernel does not take, if only as the connection has ended, is queued. */
static int send_now(struct channel *c,
                    uint16_t type,
                    const void *body,
                    size_t len)
{
    uint8_t bytes[SMALL];
    size_t size = MESSAGE_HEAD + len + TAG_BYTES;
    ssize_t sent;

    if (compose(c, type, body, len, bytes) < 0)
        return -1;
    sent = send(bufferevent_getfd(c->bev), bytes, size,
                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        sent = 0;
    return (size_t)sent == size
               ? 0
               : bufferevent_write(c->bev, bytes + sent, size - (size_t)sent);
}

static int make_seals(struct channel *c)
{
    const struct handshake *h = &c->handshake;
    int encrypt = h->secret.encrypt != 0, calls = c->is_caller;
    struct connection_keys k;

    handshake_keys(h, &k);
    c->out = seal_create(calls ? k.to_listener : k.to_caller, encrypt);
    c->in = seal_create(calls ? k.to_caller : k.to_listener, encrypt);
    sodium_memzero(&k, sizeof k);
    return c->out && c->in ? 0 : -1;
}

static void open_up(struct channel *c)
{
    if (make_seals(c) < 0) {
        give_up(c, "out of memory");
        return;
    }
    listener_release(&c->unproven);
    c->stage = OPEN;
    if (c->on->opened)
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
        give_up(c, CHANNEL_STRANGER);
    else if (n > 0 && queue(c, type, out, n) < 0)
        give_up(c, "out of memory");
    else if (c->handshake.stage == HANDSHAKE_DONE)
        open_up(c);
}

/* A whole message is there.  Its body may be decrypted in place. */
static void take_sealed(struct channel *c,
                        const struct message_head *head,
                        uint8_t *bytes)
{
    uint8_t *body = bytes + MESSAGE_HEAD;
    size_t len = head->length - TAG_BYTES;

    if (head->length < TAG_BYTES
        || seal_get(c->in, bytes, MESSAGE_HEAD, body, len, body + len) < 0)
        give_up(c, "a message was changed on its way");
    else
        c->on->message(c, c->arg, head->type, body, len);
}

/* The bytes of the message that begins here, as far as its head tells: of the
 * head, if that is not whole; 0: it is none. */
static size_t message_bytes(const struct channel *c,
                            const uint8_t *bytes,
                            size_t n,
                            struct message_head *head)
{
    uint32_t bound =
        c->stage == OPEN ? MESSAGE_BODY_MAX + TAG_BYTES : HANDSHAKE_MAX;
    int rc = message_decode(head, bytes, n, bound);

    return rc < 0 ? 0 : MESSAGE_HEAD + (rc > 0 ? head->length : 0);
}

/* Keep the beginning of a message of `size` bytes. */
static int keep_begin(struct channel *c,
                      const uint8_t *bytes,
                      size_t n,
                      size_t size)
{
    c->begin = (struct begin){malloc(size), n, size};
    if (!c->begin.bytes)
        return -1;
    memcpy(c->begin.bytes, bytes, n);
    return 0;
}

/* Take the message that begins at bytes, if all of it is there: its bytes; 0 if
 * there is none more, or the channel has ended. */
static size_t take_message(struct channel *c, uint8_t *bytes, size_t n)
{
    struct message_head head;
    size_t size = n > 0 ? message_bytes(c, bytes, n, &head) : 0;

    if (n > 0 && size == 0)
        give_up(c, "the other end does not speak evenstep's protocol");
    if (size == 0)
        return 0;
    if (n < MESSAGE_HEAD || n < size) {
        if (keep_begin(c, bytes, n, size) < 0)
            give_up(c, "out of memory");
        return 0;
    }
    if (c->stage == OPEN)
        take_sealed(c, &head, bytes);
    else
        shake(c, head.type, bytes + MESSAGE_HEAD, head.length);
    return c->stage != DEAD ? size : 0;
}

static void take_messages(struct channel *c, uint8_t *bytes, size_t n)
{
    size_t size;

    while ((size = take_message(c, bytes, n)) > 0) {
        bytes += size;
        n -= size;
    }
}

/* What was kept is for one message, so no more than that is read behind it. */
static void take_rest(struct channel *c, size_t n)
{
    struct begin whole = c->begin;

    c->begin.n = whole.n += n;
    if (whole.n < whole.size)
        return;
    c->begin = (struct begin){0};
    take_messages(c, whole.bytes, whole.n);
    free(whole.bytes);
}

static void on_readable(int fd, short what, void *arg)
{
    struct channel *c = arg;
    struct begin *b = &c->begin;
    uint8_t bytes[READ_AT_ONCE];
    ssize_t n = b->bytes ? recv(fd, b->bytes + b->n, b->size - b->n, 0)
                         : recv(fd, bytes, sizeof bytes, 0);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->busy++;
    c->is_heard = 1;
    if (n < 0)
        give_up(c, strerror(errno));
    else if (n == 0)
        give_up(c, c->stage == OPEN ? "the other end has gone"
                                    : "the other end hung up in the handshake");
    else if (b->bytes)
        take_rest(c, (size_t)n);
    else
        take_messages(c, bytes, (size_t)n);
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

/* From now on what comes is read. */
static int hear(struct channel *c)
{
    return event_assign(c->readable, bufferevent_get_base(c->bev),
                        bufferevent_getfd(c->bev), EV_READ | EV_PERSIST,
                        on_readable, c)
                       == 0
                   && event_add(c->readable, NULL) == 0
               ? 0
               : -1;
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
    uint8_t hello[HELLO_BYTES];

    c->busy++;
    if (what & BEV_EVENT_CONNECTED) {
        tune(bufferevent_getfd(bev));
        caller_hello(&c->handshake, hello);
        c->stage = SHAKING;
        if (hear(c) < 0 || queue(c, MESSAGE_HELLO, hello, sizeof hello) < 0)
            give_up(c, "out of memory");
    } else if (c->stage == CALLING) {
        give_up(c, strerror(errno));
    } else {
        /* It cannot be sent any more.  What has come is read all the same, and
         * then that it is over. */
        (void)shutdown(bufferevent_getfd(bev), SHUT_RDWR);
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
    else if (c->stage == OPEN && !c->is_heard
             && silence_ms(bufferevent_getfd(c->bev)) > SILENCE_MS)
        give_up(c, "no sign of life for 10 s");
    c->is_heard = 0;
    c->busy--;
    release(c);
}

static struct channel *channel_create(struct event_base *base,
                                      int fd,
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
    c->on = on;
    c->arg = arg;
    c->bev = bufferevent_socket_new(
        base, fd, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (!c->bev && fd >= 0)
        close(fd);
    c->readable = event_new(base, -1, 0, on_readable, c); /* see hear() */
    c->pulse = event_new(base, -1, EV_PERSIST, on_pulse, c);
    if (!c->bev || !c->readable || !c->pulse
        || event_add(c->pulse, &second) < 0) {
        channel_destroy(c);
        return NULL;
    }
    bufferevent_setcb(c->bev, NULL, on_write, on_event, c);
    return c;
}

struct channel *channel_call(struct event_base *base,
                             const struct sockaddr *address,
                             socklen_t len,
                             const struct secret *secret,
                             const struct parties *p,
                             const struct channel_events *on,
                             void *arg)
{
    struct channel *c = channel_create(base, -1, on, arg);

    if (!c)
        return NULL;
    handshake_call(&c->handshake, secret, p);
    c->is_caller = 1;
    c->stage = CALLING;
    if (bufferevent_socket_connect(c->bev, address, (int)len) < 0
        || bufferevent_enable(c->bev, EV_WRITE) < 0) {
        channel_destroy(c);
        return NULL;
    }
    return c;
}

static void end_unproven(struct unproven *u, const char *why)
{
    struct channel *c =
        (struct channel *)((char *)u - offsetof(struct channel, unproven));

    c->busy++;
    give_up(c, why);
    c->busy--;
    release(c);
}

struct channel *channel_take(struct event_base *base,
                             int fd,
                             struct listener *l,
                             const struct channel_events *on,
                             void *arg)
{
    struct channel *c = channel_create(base, fd, on, arg);

    if (!c)
        return NULL;
    c->unproven.end = end_unproven;
    listener_admit(l, &c->unproven, &c->handshake);
    c->stage = SHAKING;
    tune(fd);
    if (hear(c) < 0 || bufferevent_enable(c->bev, EV_WRITE) < 0) {
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

int channel_here(const struct channel *c, char text[ADDRESS_MAX])
{
    struct address here = {.len = sizeof here.at};

    text[0] = '\0';
    return getsockname(bufferevent_getfd(c->bev), (struct sockaddr *)&here.at,
                       &here.len)
                   == 0
               ? address_format(text, (const struct sockaddr *)&here.at)
               : -1;
}

uint32_t channel_caller(const struct channel *c)
{
    return c->handshake.parties.caller;
}

int channel_send(struct channel *c, uint16_t type, const void *body, size_t len)
{
    if (!channel_is_open(c) || len > MESSAGE_BODY_MAX)
        return -1;
    if (!c->on->drained && len <= SMALL - MESSAGE_HEAD - TAG_BYTES
        && channel_backlog(c) == 0)
        return send_now(c, type, body, len);
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
    listener_release(&c->unproven);
    release(c);
    errno = saved;
}
