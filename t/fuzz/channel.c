/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A channel that was taken in, and a caller who writes what it likes: at once,
 * or behind a right handshake if the first byte is odd, and then in messages
 * (type, length, bytes) with a right tag if its next bit is set, encrypted if
 * the third is.
 */
#include "pmix_bcast/channel.h"
#include "knowing.h"

#include <event2/event.h>
#include <signal.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct owner {
    struct channel *channel;
    unsigned messages;
};

static struct event_base *base;

static void must(int holds)
{
    if (!holds)
        abort();
}

static void on_opened(struct channel *c, void *arg)
{
    (void)arg;
    must(channel_is_open(c) && channel_caller(c) == 1);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct owner *o = arg;
    uint8_t sum = 0;

    must(type != 0 && len <= MESSAGE_BODY_MAX);
    for (size_t i = 0; i < len; i++)
        sum = (uint8_t)(sum + body[i]);
    o->messages++;
    if (sum == 7 && channel_send(c, type, body, len) < 0)
        channel_hang_up(c);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct owner *o = arg;

    (void)c;
    must(why[0] != '\0');
    o->channel = NULL;
}

static const struct channel_events events = {
    .opened = on_opened, .message = on_message, .closed = on_closed};

static void turn(void)
{
    for (int i = 0; i < 6; i++)
        event_base_loop(base, EVLOOP_NONBLOCK);
}

static void put(int fd, const void *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
        turn();
}

static void put_sealed(struct knowing *k, const uint8_t *data, size_t len)
{
    uint8_t bytes[MESSAGE_HEAD + 255 + TAG_BYTES], *body = bytes + MESSAGE_HEAD;
    struct message_head h = {(uint16_t)(data[0] + 1),
                             (uint32_t)len + TAG_BYTES};

    message_encode(bytes, &h);
    memcpy(body, data + 2, len);
    must(seal_put(k->out, bytes, MESSAGE_HEAD, body, len, body + len) == 0);
    put(k->fd, bytes, MESSAGE_HEAD + len + TAG_BYTES);
}

/* How many messages were right. */
static unsigned say_all(struct knowing *k,
                        const struct owner *o,
                        const uint8_t *data,
                        size_t size)
{
    unsigned n = 0;

    for (; size >= 2 && o->channel; n++) {
        size_t len = data[1] < size - 2 ? data[1] : size - 2;

        put_sealed(k, data, len);
        data += 2 + len;
        size -= 2 + len;
    }
    return n;
}

static struct listener *door(const struct secret *secret)
{
    static struct listener *l[2];
    const struct listener_setup setup = {.base = base,
                                         .secret = secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .loopback = 1};

    if (!l[secret->encrypt])
        must(listener_open(&l[secret->encrypt], &setup, NULL) == 0);
    return l[secret->encrypt];
}

static void shake(struct knowing *k, int fd, const struct secret *secret)
{
    static const struct parties parties = {PURPOSE_SESSION, 1, FRONT_END};

    must(knowing_hello(k, fd, secret, &parties) == 0);
    turn();
    must(knowing_prove(k) == 0);
    turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct secret secret[2] = {{{1, 2, 3}, 0}, {{1, 2, 3}, 1}};
    const struct secret *s;
    struct owner o = {0};
    struct knowing k = {0};
    int pair[2];

    if (size == 0)
        return 0;
    if (!base) {
        base = event_base_new();
        (void)signal(SIGPIPE, SIG_IGN); /* as the programs do */
    }
    must(base
         && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                       pair)
                == 0);
    s = &secret[(data[0] & 4) != 0];
    o.channel = channel_take(base, pair[0], door(s), &events, &o);
    must(o.channel != NULL);
    k.fd = pair[1];
    if (data[0] & 1)
        shake(&k, pair[1], s);
    if ((data[0] & 3) == 3)
        must(say_all(&k, &o, data + 1, size - 1) == o.messages);
    else
        put(pair[1], data + 1, size - 1);
    knowing_end(&k);
    turn();
    must(o.channel == NULL);
    must((data[0] & 3) == 3 || o.messages == 0);
    return 0;
}
