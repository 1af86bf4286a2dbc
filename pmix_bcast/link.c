/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/link.h"
#include "pmix_bcast/bytes.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHAKE_S    5            /* as HANDSHAKE_MS of channel.h */
#define TURN_BYTES (512u << 10) /* read at once, before others have a turn */
#define LOWAT_MIN  (16u << 10)
#define LOWAT_MAX  (256u << 10)
#define DEAD_MS    10000u /* without acknowledgement: SILENCE_MS */

enum stage { CALLING, SHAKING, OPEN, DEAD };

/* Above a head and every message of the handshake. */
#define IN_MAX (MESSAGE_HEAD + HANDSHAKE_MAX)
_Static_assert(IN_MAX >= LINK_HEAD, "a head has room");

struct link {
    enum stage stage;
    int fd, busy; /* busy: callbacks of this link now on the stack */
    int held, is_caller;
    struct event *readable, *writable, *timer;
    struct handshake handshake;
    struct unproven unproven;
    struct seal *seal_out, *seal_in; /* once it is open */
    uint32_t tail; /* what follows a chunk's bytes: TAG_BYTES if encrypted */
    const struct link_events *on;
    void *arg;
    uint32_t chunk_max;
    /* What comes in: a head, then its bytes. */
    uint8_t in[IN_MAX], *place, *sink;
    size_t in_len, got;
    struct link_head head;
    int in_bytes; /* the head has come, its bytes are due */
    /* What goes out: likewise; encrypted bytes and their tag from cipher. */
    uint8_t out[IN_MAX];
    size_t out_len, out_done;
    struct link_head sending;
    int is_sending, file;
    off_t at;
    uint8_t *cipher;
    size_t left;
    uint64_t bytes_sent;
};

/* --- heads ---------------------------------------------------------------- */

int link_head_decode(struct link_head *h,
                     const uint8_t buf[LINK_HEAD],
                     uint32_t size_max,
                     uint32_t tail)
{
    struct message_head m;

    memset(h, 0, sizeof *h);
    if (message_decode(&m, buf, LINK_HEAD, UINT32_MAX) != 1
        || m.type < LINK_HELLO || m.type > LINK_LACK
        || m.length < LINK_HEAD - MESSAGE_HEAD)
        return -1;
    h->type = m.type;
    h->broadcast = get_u32(buf + 12);
    h->chunk = get_u32(buf + 16);
    h->flags = get_u32(buf + 20);
    h->bytes = (uint64_t)get_u32(buf + 24) << 32 | get_u32(buf + 28);
    memcpy(h->digest, buf + 32, sizeof h->digest);
    h->size = m.length - (LINK_HEAD - MESSAGE_HEAD);
    if (h->type != LINK_CHUNK && h->size == 0)
        return 0;
    if (h->type == LINK_CHUNK && h->size > tail && h->size - tail <= size_max) {
        h->size -= tail;
        return 0;
    }
    memset(h, 0, sizeof *h);
    return -1;
}

void link_head_encode(uint8_t buf[LINK_HEAD],
                      const struct link_head *h,
                      uint32_t tail)
{
    uint32_t after = h->size > 0 ? h->size + tail : 0;
    struct message_head m = {h->type, LINK_HEAD - MESSAGE_HEAD + after};

    message_encode(buf, &m);
    put_u32(buf + 12, h->broadcast);
    put_u32(buf + 16, h->chunk);
    put_u32(buf + 20, h->flags);
    put_u32(buf + 24, (uint32_t)(h->bytes >> 32));
    put_u32(buf + 28, (uint32_t)h->bytes);
    memcpy(buf + 32, h->digest, sizeof h->digest);
}

/* --- the end -------------------------------------------------------------- */

static void release(struct link *l)
{
    if (l->stage != DEAD || l->busy > 0)
        return;
    if (l->readable)
        event_free(l->readable);
    if (l->writable)
        event_free(l->writable);
    if (l->timer)
        event_free(l->timer);
    if (l->fd >= 0)
        close(l->fd);
    seal_destroy(l->seal_out);
    seal_destroy(l->seal_in);
    handshake_clear(&l->handshake);
    free(l->cipher);
    free(l->sink);
    free(l);
}

static void give_up(struct link *l, const char *why)
{
    if (l->stage == DEAD)
        return;
    l->stage = DEAD;
    listener_release(&l->unproven);
    l->on->closed(l, l->arg, why);
}

void link_destroy(struct link *l)
{
    int saved = errno;

    if (!l)
        return;
    l->stage = DEAD;
    listener_release(&l->unproven);
    release(l);
    errno = saved;
}

static const char changed[] = "a message was changed on its way";

/* --- sending -------------------------------------------------------------- */

/* Send on; 1: it is all with the kernel, 0: the socket is full, -1: broken. */
static int flush_head(struct link *l)
{
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (l->left > 0 ? MSG_MORE : 0);

    while (l->out_done < l->out_len) {
        ssize_t n =
            send(l->fd, l->out + l->out_done, l->out_len - l->out_done, flags);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        l->out_done += (size_t)n;
        l->bytes_sent += (uint64_t)n;
    }
    return 1;
}

/* Some of the chunk: from the file, or what was encrypted of it. */
static ssize_t send_some(struct link *l)
{
    size_t all = l->sending.size + l->tail;

    if (l->tail == 0)
        return sendfile(l->fd, l->file, &l->at, l->left);
    return send(l->fd, l->cipher + (all - l->left), l->left,
                MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int flush_bytes(struct link *l)
{
    while (l->left > 0) {
        ssize_t n = send_some(l);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        if (n == 0) { /* the file has shrunk */
            errno = ENODATA;
            return -1;
        }
        l->left -= (size_t)n;
        l->bytes_sent += (uint64_t)n;
    }
    return 1;
}

/* The chunk's bytes as they are sent: read, sealed, their tag behind them. */
static int encrypt(struct link *l)
{
    uint32_t size = l->sending.size;
    ssize_t n;

    if (!l->cipher)
        l->cipher = malloc(l->chunk_max + TAG_BYTES);
    if (!l->cipher || size > l->chunk_max)
        return -1;
    n = pread(l->file, l->cipher, size, l->at);
    if (n >= 0 && n < (ssize_t)size)
        errno = ENODATA; /* the file has shrunk */
    if (n != (ssize_t)size)
        return -1;
    return seal_put(l->seal_out, NULL, 0, l->cipher, size, l->cipher + size);
}

static int seal_message(struct link *l)
{
    size_t len = LINK_HEAD - TAG_BYTES;

    link_head_encode(l->out, &l->sending, l->tail);
    l->out_len = LINK_HEAD;
    l->out_done = 0;
    l->left = l->sending.size > 0 ? l->sending.size + l->tail : 0;
    errno = ENOMEM; /* what else makes libcrypto fail */
    if (seal_put(l->seal_out, l->out, len, NULL, 0, l->out + len) < 0)
        return -1;
    return l->left > 0 && l->tail > 0 ? encrypt(l) : 0;
}

/* 1: there is one, 0: there is not, -1: it cannot be sent. */
static int take_next(struct link *l)
{
    memset(&l->sending, 0, sizeof l->sending);
    if (l->stage != OPEN || !l->on->next
        || !l->on->next(l, l->arg, &l->sending, &l->file, &l->at)
        || l->stage != OPEN)
        return 0;
    if (seal_message(l) < 0)
        return -1;
    l->is_sending = 1;
    return 1;
}

/* Send until the socket is full, there is nothing more, or a chunk is sent:
 * then the other links have their turn. */
static void send_on(struct link *l)
{
    for (;;) {
        int rc = flush_head(l);

        if (rc > 0)
            rc = flush_bytes(l);
        if (rc == 0) {
            (void)event_add(l->writable, NULL);
            return;
        }
        if (rc > 0 && l->is_sending) {
            l->is_sending = 0;
            if (l->on->sent)
                l->on->sent(l, l->arg, &l->sending);
            if (l->stage == OPEN && l->sending.size > 0) {
                link_wake(l);
                return;
            }
        }
        if (rc > 0)
            rc = take_next(l);
        if (rc < 0)
            give_up(l, strerror(errno));
        if (rc <= 0)
            return;
    }
}

static void queue_handshake(struct link *l,
                            uint16_t type,
                            const uint8_t *body,
                            size_t len)
{
    struct message_head m = {type, (uint32_t)len};

    message_encode(l->out, &m);
    memcpy(l->out + MESSAGE_HEAD, body, len);
    l->out_len = MESSAGE_HEAD + len;
    l->out_done = 0;
}

/* --- receiving ------------------------------------------------------------ */

static int make_seals(struct link *l)
{
    const struct handshake *h = &l->handshake;
    int encrypt_it = h->secret.encrypt != 0, calls = l->is_caller;
    struct connection_keys k;

    handshake_keys(h, &k);
    l->seal_out = seal_create(calls ? k.to_listener : k.to_caller, encrypt_it);
    l->seal_in = seal_create(calls ? k.to_caller : k.to_listener, encrypt_it);
    l->tail = encrypt_it ? TAG_BYTES : 0;
    sodium_memzero(&k, sizeof k);
    return l->seal_out && l->seal_in ? 0 : -1;
}

static void open_up(struct link *l)
{
    if (make_seals(l) < 0) {
        give_up(l, "out of memory");
        return;
    }
    listener_release(&l->unproven);
    l->stage = OPEN;
    event_del(l->timer);
    if (l->on->opened)
        l->on->opened(l, l->arg);
    link_wake(l);
}

static void shake(struct link *l)
{
    struct message_head m;
    uint8_t out[HANDSHAKE_MAX];
    uint16_t type;
    size_t n;

    if (message_decode(&m, l->in, l->in_len, HANDSHAKE_MAX) != 1) {
        give_up(l, "the other end does not speak evenstep's protocol");
        return;
    }
    if (l->in_len < MESSAGE_HEAD + m.length)
        return;
    type = m.type;
    if (handshake_step(&l->handshake, &type, l->in + MESSAGE_HEAD, m.length,
                       out, &n)
        < 0) {
        give_up(l, "the other end cannot prove who it is");
        return;
    }
    l->in_len = 0;
    if (n > 0) {
        queue_handshake(l, type, out, n);
        send_on(l);
    }
    if (l->handshake.stage == HANDSHAKE_DONE && l->stage == SHAKING)
        open_up(l);
}

/* How many bytes of in are due before it can be looked at. */
static size_t due(const struct link *l)
{
    struct message_head m;

    if (l->stage == OPEN)
        return LINK_HEAD;
    if (l->in_len < MESSAGE_HEAD
        || message_decode(&m, l->in, l->in_len, HANDSHAKE_MAX) != 1)
        return MESSAGE_HEAD;
    return MESSAGE_HEAD + m.length;
}

static void end_message(struct link *l)
{
    l->in_bytes = 0;
    l->in_len = 0;
    if (l->on->taken(l, l->arg, &l->head, l->place) < 0)
        give_up(l, "the other end does not keep to the protocol");
}

/* Without a place the bytes are read into a sink of our own, and forgotten. */
static void begin_bytes(struct link *l)
{
    l->got = 0;
    l->place = l->on->place ? l->on->place(l, l->arg, &l->head) : NULL;
    if (l->stage != OPEN)
        return;
    if (!l->place && !l->sink)
        l->sink = malloc(l->chunk_max);
    if (!l->place && !l->sink)
        give_up(l, "out of memory");
    l->in_bytes = 1;
}

static void take_head(struct link *l)
{
    size_t len = LINK_HEAD - TAG_BYTES;

    if (seal_get(l->seal_in, l->in, len, NULL, 0, l->in + len) < 0) {
        give_up(l, changed);
        return;
    }
    if (link_head_decode(&l->head, l->in, l->chunk_max, l->tail) < 0) {
        give_up(l, "the other end does not speak evenstep's protocol");
        return;
    }
    l->place = NULL;
    l->in_len = 0;
    if (l->head.size > 0)
        begin_bytes(l);
    else
        end_message(l);
}

static uint8_t *bytes_of(const struct link *l)
{
    return l->place ? l->place : l->sink;
}

/* The chunk's tag stands in `in`. */
static void decrypt(struct link *l)
{
    if (seal_get(l->seal_in, NULL, 0, bytes_of(l), l->head.size, l->in) < 0)
        give_up(l, changed);
    else
        end_message(l);
}

/* n bytes have come for the chunk; returns how many of them are its own. */
static size_t account_bytes(struct link *l, size_t n)
{
    size_t left = l->head.size - l->got, part = left < n ? left : n, tag;

    l->got += part;
    if (l->got < l->head.size)
        return part;
    tag = n - part < l->tail - l->in_len ? n - part : l->tail - l->in_len;
    l->in_len += tag;
    if (l->in_len < l->tail)
        return n;
    if (l->tail > 0)
        decrypt(l);
    else
        end_message(l);
    return part + tag;
}

/* n bytes have come, first those of the chunk, then those of the next head. */
static void account(struct link *l, size_t n)
{
    if (l->in_bytes) {
        n -= account_bytes(l, n);
        if (l->in_bytes || l->stage == DEAD)
            return;
        l->in_len = n; /* read behind it, into in; see read_some() */
    } else {
        l->in_len += n;
    }
    while (l->stage < DEAD && !l->in_bytes && l->in_len >= due(l)
           && l->in_len > 0) {
        if (l->stage == OPEN)
            take_head(l);
        else
            shake(l);
    }
}

/* The rest of the chunk, if there is one due, and what is due of in: its tag,
 * or, as then it is all that has to be kept apart, the next head. */
static ssize_t read_some(struct link *l)
{
    size_t want = l->in_bytes ? (l->tail > 0 ? l->tail : LINK_HEAD) : due(l);
    struct iovec to[2];
    int n = 0;

    if (l->in_bytes && l->got < l->head.size) {
        to[n].iov_base = bytes_of(l) + l->got;
        to[n++].iov_len = l->head.size - l->got;
    }
    to[n].iov_base = l->in + l->in_len;
    to[n++].iov_len = want - l->in_len;
    return readv(l->fd, to, n);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;
    size_t turn = 0;

    (void)fd;
    (void)what;
    l->busy++;
    while (l->stage != DEAD && !l->held && turn < TURN_BYTES) {
        ssize_t n = read_some(l);

        if (n > 0) {
            turn += (size_t)n;
            account(l, (size_t)n);
        } else if (n == 0) {
            give_up(l, l->stage == OPEN
                           ? "the other end has gone"
                           : "the other end hung up in the handshake");
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            give_up(l, strerror(errno));
        }
    }
    l->busy--;
    release(l);
}

/* --- begin ---------------------------------------------------------------- */

/* Each is an improvement, none a condition. */
static void tune(const struct link *l)
{
    int yes = 1, lowat = LOWAT_MIN;
    unsigned dead = DEAD_MS;

    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat,
                     sizeof lowat);
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
}

void link_set_chunk(struct link *l, uint32_t bytes)
{
    int lowat = (int)(bytes < LOWAT_MIN   ? LOWAT_MIN
                      : bytes > LOWAT_MAX ? LOWAT_MAX
                                          : bytes);

    l->chunk_max = bytes;
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat,
                     sizeof lowat);
}

static void connected(struct link *l)
{
    int error = 0;
    socklen_t len = sizeof error;
    uint8_t hello[HELLO_BYTES];

    if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error) {
        give_up(l, strerror(error));
        return;
    }
    l->stage = SHAKING;
    caller_hello(&l->handshake, hello);
    queue_handshake(l, MESSAGE_HELLO, hello, sizeof hello);
    (void)event_add(l->readable, NULL);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    l->busy++;
    if (l->stage == CALLING)
        connected(l);
    if (l->stage != DEAD)
        send_on(l);
    l->busy--;
    release(l);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    l->busy++;
    give_up(l, "no answer within 5 s");
    l->busy--;
    release(l);
}

static struct link *link_create(struct event_base *base,
                                int fd,
                                const struct link_events *on,
                                void *arg)
{
    struct link *l = calloc(1, sizeof *l);
    struct timeval late = {SHAKE_S, 0};

    if (!l) {
        close(fd);
        return NULL;
    }
    l->fd = fd;
    l->on = on;
    l->arg = arg;
    l->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, l);
    l->writable = event_new(base, fd, EV_WRITE, on_writable, l);
    l->timer = evtimer_new(base, on_late, l);
    if (!l->readable || !l->writable || !l->timer
        || event_add(l->timer, &late) < 0) {
        link_destroy(l);
        return NULL;
    }
    tune(l);
    return l;
}

struct link *link_call(struct event_base *base,
                       const struct sockaddr *address,
                       socklen_t len,
                       const struct secret *secret,
                       const struct parties *p,
                       const struct link_events *on,
                       void *arg)
{
    int fd = socket(address->sa_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct link *l = fd < 0 ? NULL : link_create(base, fd, on, arg);

    if (!l)
        return NULL;
    handshake_call(&l->handshake, secret, p);
    l->is_caller = 1;
    if ((connect(fd, address, len) < 0 && errno != EINPROGRESS)
        || event_add(l->writable, NULL) < 0) {
        link_destroy(l);
        return NULL;
    }
    return l;
}

static void end_unproven(struct unproven *u, const char *why)
{
    struct link *l =
        (struct link *)((char *)u - offsetof(struct link, unproven));

    l->busy++;
    give_up(l, why);
    l->busy--;
    release(l);
}

struct link *link_take(struct event_base *base,
                       int fd,
                       struct listener *listener,
                       const struct link_events *on,
                       void *arg)
{
    struct link *l = link_create(base, fd, on, arg);

    if (!l)
        return NULL;
    l->unproven.end = end_unproven;
    listener_admit(listener, &l->unproven, &l->handshake);
    l->stage = SHAKING;
    if (event_add(l->readable, NULL) < 0) {
        link_destroy(l);
        return NULL;
    }
    return l;
}

void link_set_events(struct link *l, const struct link_events *on, void *arg)
{
    l->on = on;
    l->arg = arg;
}

int link_hold(struct link *l, int on)
{
    l->held = on;
    return on ? event_del(l->readable) : event_add(l->readable, NULL);
}

int link_is_open(const struct link *l)
{
    return l->stage == OPEN;
}

uint32_t link_caller(const struct link *l)
{
    return l->handshake.parties.caller;
}

void link_wake(struct link *l)
{
    if (l->stage == OPEN && !l->is_sending
        && !event_pending(l->writable, EV_WRITE, NULL))
        event_active(l->writable, EV_WRITE, 0);
}

uint64_t link_queued(const struct link *l)
{
    int unacknowledged = 0;

    if (ioctl(l->fd, SIOCOUTQ, &unacknowledged) < 0)
        unacknowledged = 0;
    return (uint64_t)unacknowledged + l->left;
}

uint64_t link_bytes_sent(const struct link *l)
{
    return l->bytes_sent;
}
