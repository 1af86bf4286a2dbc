/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real sockets on loopback.  One end is a channel that we call with or take
 * in, the other a channel too or a stranger who writes what it likes.
 * Libevent's allocations fail here when ours do.
 */
#include "pmix_bcast/channel.h"
#include "fault.h"
#include "knowing.h"
#include "loop.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/message.h"
#include "tap.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <time.h>

#define GUESTS 8

static const char foreign[] = "the other end cannot prove who it is";
static const char babble[] = "the other end does not speak evenstep's protocol";

enum when { NEVER, AT_OPENED, AT_MESSAGE, AT_DRAINED, AT_CLOSED };

struct end {
    struct channel *channel;
    int opened, closed, messages, drained;
    uint16_t type;
    size_t len, total, most; /* of the last, of all, backlog at drained() */
    int garbled, disorder;
    char why[100];
    enum when destroy;
    int destroyed, after; /* heard after it was destroyed */
};

static struct event *tick; /* so that the loop always turns */
static struct listener *listener;
static struct secret secret, other;
static struct end caller, guest[GUESTS];
static struct end *const taken = &guest[0];
static size_t guests;

static void end_it(struct end *e, struct channel *c, enum when now)
{
    if (e->destroy != now)
        return;
    channel_destroy(c);
    e->channel = NULL;
    e->destroyed = 1;
}

static void on_opened(struct channel *c, void *arg)
{
    struct end *e = arg;

    e->after += e->destroyed;
    e->opened++;
    end_it(e, c, AT_OPENED);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct end *e = arg;

    e->after += e->destroyed;
    e->disorder |= e->messages > 0 && type != e->type + 1;
    e->messages++;
    e->type = type;
    e->len = len;
    e->total += len;
    for (size_t i = 0; i < len; i++)
        e->garbled |= body[i] != (uint8_t)(i * 7);
    end_it(e, c, AT_MESSAGE);
}

static void on_drained(struct channel *c, void *arg)
{
    struct end *e = arg;

    e->after += e->destroyed;
    e->drained++;
    if (channel_backlog(c) > e->most)
        e->most = channel_backlog(c);
    end_it(e, c, AT_DRAINED);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct end *e = arg;

    e->after += e->destroyed;
    snprintf(e->why, sizeof e->why, "%s", why);
    e->closed++;
    e->channel = NULL;
    end_it(e, c, AT_CLOSED);
}

static const struct channel_events events = {.opened = on_opened,
                                             .message = on_message,
                                             .drained = on_drained,
                                             .closed = on_closed};

static const struct channel_events *guest_on = &events;

static void on_called(void *arg, struct listener *l, int fd)
{
    struct end *e = &guest[guests++ % GUESTS];

    (void)arg;
    e->channel = channel_take(base, fd, l, guest_on, e);
}

static void turn(int times)
{
    for (int i = 0; i < times; i++)
        event_base_loop(base, EVLOOP_ONCE);
}

static void on_tick(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static void finish(void)
{
    channel_destroy(caller.channel);
    for (size_t i = 0; i < GUESTS; i++)
        channel_destroy(guest[i].channel);
    memset(&caller, 0, sizeof caller);
    memset(guest, 0, sizeof guest);
    guests = 0;
    listener_close(listener);
    listener = NULL;
    if (tick)
        event_free(tick);
    if (base)
        event_base_free(base);
}

static const struct parties parties = {PURPOSE_SESSION, 3, FRONT_END};

static struct listener_setup door(struct port_range ports)
{
    return (struct listener_setup){.base = base,
                                   .secret = &secret,
                                   .purpose = PURPOSE_SESSION,
                                   .self = FRONT_END,
                                   .ports = ports,
                                   .loopback = 1,
                                   .called = on_called};
}

static void fresh(void)
{
    struct timeval often = {0, 20000};
    struct listener_setup setup;

    finish();
    base = event_base_new();
    tick = base ? event_new(base, -1, EV_PERSIST, on_tick, NULL) : NULL;
    setup = door((struct port_range){0, 0});
    if (!tick || event_add(tick, &often) < 0
        || listener_open(&listener, &setup, NULL) < 0)
        bail("no listener");
}

static struct sockaddr_in address(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return in;
}

static void call(const struct secret *s, struct sockaddr_in in)
{
    caller.channel = channel_call(base, (struct sockaddr *)&in, sizeof in, s,
                                  &parties, &events, &caller);
    if (!caller.channel)
        bail("no channel");
}

static void open_both(void)
{
    fresh();
    call(&secret, address());
    until(caller.opened && taken->opened);
}

static int send_bytes(struct channel *c, int type, size_t len)
{
    uint8_t *body = malloc(len + 1);
    int rc;

    if (!body)
        bail("no memory");
    for (size_t i = 0; i < len; i++)
        body[i] = (uint8_t)(i * 7);
    rc = channel_send(c, (uint16_t)type, body, len);
    free(body);
    return rc;
}

/* --- two channels --------------------------------------------------------- */

static void test_right_secret(void)
{
    static const size_t sizes[] = {0, 1, 70000, 1 << 20, MESSAGE_BODY_MAX};

    open_both();
    ok(caller.opened == 1 && taken->opened == 1,
       "one secret opens both ends, once");
    ok(channel_is_open(caller.channel) && channel_is_open(taken->channel),
       "and they say so");
    for (int i = 0; i < 5; i++) {
        send_bytes(caller.channel, 100 + i, sizes[i]);
        send_bytes(taken->channel, 200 + i, sizes[i]);
        until(taken->messages > i && caller.messages > i);
        ok(taken->type == 100 + i && taken->len == sizes[i] && !taken->garbled,
           "%zu bytes arrive whole at the listener", sizes[i]);
        ok(caller.type == 200 + i && caller.len == sizes[i] && !caller.garbled,
           "and as many at the caller");
    }
    for (int i = 0; i < 300; i++)
        if (send_bytes(caller.channel, 105 + i, (size_t)i * 11) < 0
            || send_bytes(taken->channel, 205 + i, (size_t)i * 13) < 0)
            bail("cannot send");
    until(taken->messages >= 305 && caller.messages >= 305);
    ok(!taken->garbled && !taken->disorder && taken->messages == 305,
       "300 more arrive in order at the listener");
    ok(!caller.garbled && !caller.disorder && caller.messages == 305,
       "and at the caller at the same time");
}

static void test_end(void)
{
    struct end second = {0};

    open_both();
    is_int(channel_send(caller.channel, 100, "", MESSAGE_BODY_MAX + 1), -1,
           "a body over the bound is not sent");
    ok(channel_backlog(caller.channel) == 0, "nor any of it queued");
    channel_set_events(taken->channel, &events, &second);
    send_bytes(caller.channel, 1, 10);
    until(second.messages);
    ok(second.messages == 1 && taken->messages == 0,
       "whoever is set to hear a channel hears it");
    channel_hang_up(caller.channel);
    ok(caller.closed == 0, "a hang-up does not tell from within");
    until(caller.closed && second.closed);
    turn(3);
    ok(caller.closed == 1 && second.closed == 1,
       "both ends hear of a hang-up, once");
    is_str(second.why, "the other end has gone", "and why");
    taken->channel = NULL;

    fresh();
    call(&secret, address());
    ok(!channel_is_open(caller.channel)
           && channel_send(caller.channel, 100, "x", 1) == -1,
       "nothing is sent before the other end has proved itself");
    ok(!channel_is_open(NULL), "no channel is not open");
}

/* Who has no use for opened() and drained() leaves them out. */
static void test_bare(void)
{
    static const struct channel_events bare = {.message = on_message,
                                               .closed = on_closed};

    guest_on = &bare;
    fresh();
    call(&secret, address());
    until(caller.opened);
    send_bytes(caller.channel, 100, 70000);
    until(taken->messages == 1);
    ok(taken->messages == 1 && taken->len == 70000 && !taken->garbled,
       "a channel opens without opened()");
    send_bytes(taken->channel, 100, 70000);
    until(caller.messages == 1 && channel_backlog(taken->channel) == 0);
    turn(3);
    ok(caller.messages == 1 && taken->opened == 0 && taken->drained == 0,
       "and sends without drained()");
    guest_on = &events;
}

/* Where nobody waits for drained() a small message need not wait for the loop.
 */
static void test_at_once(void)
{
    static const struct channel_events bare = {.message = on_message,
                                               .closed = on_closed};
    const int most = 30000; /* more than the kernel takes */
    size_t queued;
    int type = 100;

    guest_on = &bare;
    fresh();
    call(&secret, address());
    until(caller.opened && channel_is_open(taken->channel));
    send_bytes(taken->channel, type++, 900);
    ok(channel_backlog(taken->channel) == 0, "a small message is sent at once");
    send_bytes(caller.channel, 1, 900);
    ok(channel_backlog(caller.channel) > 900,
       "but queued by who is to hear drained()");
    send_bytes(taken->channel, type++, 70000);
    queued = channel_backlog(taken->channel);
    send_bytes(taken->channel, type++, 900);
    ok(queued > 70000 && channel_backlog(taken->channel) > queued + 900,
       "a large one is queued, and what follows it stays behind it");
    until(caller.messages == 3);
    while (type < most && channel_backlog(taken->channel) == 0)
        send_bytes(taken->channel, type++, 900);
    ok(type < most && channel_backlog(taken->channel) > 0,
       "what the kernel does not take is queued");
    send_bytes(taken->channel, type++, 900);
    until(caller.messages == type - 100);
    ok(caller.messages == type - 100 && !caller.garbled && !caller.disorder,
       "and all of it arrives in order");
    channel_hang_up(taken->channel);
    is_int(send_bytes(taken->channel, type, 900), 0,
           "on a connection that has ended it is not an error yet");
    until(taken->closed);
    is_int(taken->closed, 1, "closed() tells");
    guest_on = &events;
}

static void test_wrong_secret(void)
{
    fresh();
    call(&other, address());
    until(caller.closed && taken->closed);
    ok(!caller.opened && !taken->opened, "two secrets open nothing");
    is_str(caller.why, foreign, "the caller is told");
    ok(taken->closed == 1 && taken->messages == 0, "the listener drops it");
}

/* --- a stranger calls ----------------------------------------------------- */

static int stranger_connect(void)
{
    struct sockaddr_in in = address();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof in) < 0)
        bail("cannot connect");
    return fd;
}

static void put(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        bail("cannot write");
}

static void put_message(int fd, uint16_t type, const void *body, size_t len)
{
    struct message_head h = {type, (uint32_t)len};
    uint8_t head[MESSAGE_HEAD];

    message_encode(head, &h);
    put(fd, head, sizeof head);
    put(fd, body, len);
}

/* Wait for one message of just len bytes; its body. */
static void get_message(int fd, uint16_t type, void *body, size_t len)
{
    uint8_t bytes[MESSAGE_HEAD + HANDSHAKE_MAX];
    struct message_head h;
    ssize_t n = -1;

    until((n = recv(fd, bytes, MESSAGE_HEAD + len, MSG_PEEK | MSG_DONTWAIT))
              == (ssize_t)(MESSAGE_HEAD + len)
          || n == 0);
    if (n <= 0 || recv(fd, bytes, MESSAGE_HEAD + len, 0) != n
        || message_decode(&h, bytes, (size_t)n, (uint32_t)len) != 1
        || h.type != type || h.length != len)
        bail("no message %u of %zu bytes", type, len);
    memcpy(body, bytes + MESSAGE_HEAD, len);
}

static const struct {
    const char *name;
    uint16_t type;
    uint32_t length; /* as told */
    size_t sent;     /* bytes of body that follow */
    const char *why;
} strangers[] = {
    {"a message before the handshake", MESSAGE_FREE, 4, 4, foreign},
    {"an empty message", MESSAGE_FREE, 0, 0, foreign},
    {"a proof out of turn", MESSAGE_PROOF, MAC_BYTES, MAC_BYTES, foreign},
    {"a challenge to a listener", MESSAGE_CHALLENGE, HANDSHAKE_MAX,
     HANDSHAKE_MAX, foreign},
    {"a hello that is too short", MESSAGE_HELLO, 43, 43, foreign},
    {"a hello that is too long", MESSAGE_HELLO, 45, 45, foreign},
    {"a hello for nobody", MESSAGE_HELLO, HELLO_BYTES, HELLO_BYTES, foreign},
    {"an empty hello", MESSAGE_HELLO, 0, 0, foreign},
    {"a body over the handshake's bound", MESSAGE_HELLO, HANDSHAKE_MAX + 1, 0,
     babble},
    {"a body of 4 GiB", MESSAGE_HELLO, UINT32_MAX, 0, babble},
};

/* As anybody can write it. */
static const uint8_t *hello_for_us(uint8_t body[HELLO_BYTES])
{
    put_u32(body, PURPOSE_SESSION);
    put_u32(body + 8, FRONT_END);
    return body;
}

static void test_strangers(void)
{
    uint8_t body[256] = {0}, head[MESSAGE_HEAD];
    int fd;

    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        struct message_head h = {strangers[i].type, strangers[i].length};

        fresh();
        fd = stranger_connect();
        message_encode(head, &h);
        put(fd, head, sizeof head);
        put(fd, body, strangers[i].sent);
        until(taken->closed);
        ok(taken->closed == 1 && !taken->opened && !taken->messages
               && strcmp(taken->why, strangers[i].why) == 0,
           "%s is dropped", strangers[i].name);
        close(fd);
    }
    fresh();
    fd = stranger_connect();
    put(fd, "GET / HTTP/1.0\r\n\r\n", 18);
    until(taken->closed);
    is_str(taken->why, babble, "a web browser is dropped");
    close(fd);
    fresh();
    fd = stranger_connect();
    put_message(fd, MESSAGE_HELLO, hello_for_us(body), HELLO_BYTES);
    close(fd);
    until(taken->closed);
    is_str(taken->why, "the other end hung up in the handshake",
           "one who goes after the hello is heard to go");
}

/* One who knows the secret and yet writes byte by byte what it likes. */
static void knowing_connect(struct knowing *k)
{
    uint8_t challenge[MESSAGE_HEAD + HANDSHAKE_MAX];

    if (knowing_hello(k, stranger_connect(), &secret, &parties) < 0)
        bail("no hello");
    until(recv(k->fd, challenge, sizeof challenge, MSG_PEEK | MSG_DONTWAIT)
          == (ssize_t)sizeof challenge);
    if (knowing_prove(k) < 0)
        bail("no proof");
}

/* What is said in turn, but wrongly. */
static void test_false_proofs(void)
{
    struct handshake h;
    uint8_t hello[HELLO_BYTES], challenge[HANDSHAKE_MAX], proof[MAC_BYTES];
    uint8_t heard[MAC_BYTES] = {0};

    for (int i = 0; i < 4; i++) {
        static const char *const what[] = {
            "a proof opens", "the same proof on a new connection is refused",
            "the listener's own mac sent back is refused",
            "a second hello is refused"};
        int fd;

        fresh();
        fd = stranger_connect();
        if (i != 1) /* else the very same hello again */
            handshake_call(&h, &secret, &parties);
        caller_hello(&h, hello);
        put_message(fd, MESSAGE_HELLO, hello, sizeof hello);
        get_message(fd, MESSAGE_CHALLENGE, challenge, sizeof challenge);
        if (i == 0 && caller_proof(&h, challenge, heard) < 0)
            bail("no proof");
        memcpy(proof, i == 2 ? challenge + NONCE_BYTES : heard, sizeof proof);
        put_message(fd, i == 3 ? MESSAGE_HELLO : MESSAGE_PROOF, proof,
                    sizeof proof);
        until(taken->opened || taken->closed);
        if (i == 0)
            ok(taken->opened == 1, "%s", what[i]);
        else
            ok(!taken->opened && strcmp(taken->why, foreign) == 0, "%s",
               what[i]);
        close(fd);
    }
}

/* A message as it goes over the wire; its bytes are 0, 7, 14, … */
static size_t seal_bytes(struct seal *seal,
                         uint16_t type,
                         size_t len,
                         uint8_t bytes[])
{
    struct message_head head = {type, (uint32_t)(len + TAG_BYTES)};

    message_encode(bytes, &head);
    for (size_t i = 0; i < len; i++)
        bytes[MESSAGE_HEAD + i] = (uint8_t)(i * 7);
    if (seal_put(seal, bytes, MESSAGE_HEAD, bytes + MESSAGE_HEAD, len,
                 bytes + MESSAGE_HEAD + len)
        < 0)
        bail("cannot seal");
    return MESSAGE_HEAD + len + TAG_BYTES;
}

static void test_knowing(void)
{
    static const uint8_t long_head[MESSAGE_HEAD] = {
        'E', 'V', 'S', '2', 0, 16, 0, 0, 0x00, 128, 0, TAG_BYTES + 1};
    uint8_t bytes[MESSAGE_HEAD + 3 + TAG_BYTES];
    struct knowing k;

    fresh();
    knowing_connect(&k);
    seal_bytes(k.out, 77, 3, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        int before = taken->messages;

        put(k.fd, bytes + i, 1);
        turn(1);
        if (before)
            bail("too early");
    }
    until(taken->messages);
    ok(taken->messages == 1 && taken->type == 77 && taken->len == 3
           && !taken->garbled,
       "a message that comes byte by byte arrives whole, once");
    for (int i = 0; i < 3; i++)
        put(k.fd, bytes, seal_bytes(k.out, (uint16_t)(78 + i), 3, bytes));
    knowing_end(&k);
    until(taken->closed);
    ok(taken->messages == 4 && taken->closed == 1,
       "what was sent before the end is heard before the end");

    fresh();
    knowing_connect(&k);
    put(k.fd, long_head, sizeof long_head);
    until(taken->closed);
    ok(taken->opened && strcmp(taken->why, babble) == 0,
       "a body over the bound is refused from a friend, too");
    knowing_end(&k);
    fresh();
    knowing_connect(&k);
    put(k.fd, bytes, seal_bytes(k.out, 77, 3, bytes) - 1);
    knowing_end(&k);
    until(taken->closed);
    ok(taken->opened && taken->messages == 0,
       "of half a message nothing is delivered");
}

/* Several in one go, and the first cut where it likes. */
static void test_cuts(void)
{
    enum { N = 5 };
    uint8_t bytes[N * (MESSAGE_HEAD + 20000 + TAG_BYTES)];
    static const size_t cut[] = {1, 11, 12, 13, 16383, 16384, 16385, 20027};
    size_t at, n = 0;
    struct knowing k;

    fresh();
    knowing_connect(&k);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        at = 0;
        for (int j = 0; j < N; j++)
            at += seal_bytes(k.out, (uint16_t)(100 + n++), 20000, bytes + at);
        put(k.fd, bytes, cut[i]);
        turn(2);
        put(k.fd, bytes + cut[i], at - cut[i]);
        until(taken->messages == (int)n || taken->closed);
    }
    ok(taken->messages == (int)n && !taken->garbled && !taken->disorder,
       "messages arrive whole and in order, wherever they are cut");
    knowing_end(&k);
}

/* The other end says its last words and dies, while it is yet to be sent a lot. */
static void test_last_words(void)
{
    enum { N = 40 };
    const struct linger reset = {.l_onoff = 1};
    uint8_t bytes[N * (MESSAGE_HEAD + 1000 + TAG_BYTES)];
    struct knowing k;
    size_t at = 0;

    fresh();
    knowing_connect(&k);
    put(k.fd, bytes, seal_bytes(k.out, 77, 1000, bytes));
    until(taken->messages == 1);
    for (int i = 0; i < 100; i++)
        send_bytes(taken->channel, 1, 70000);
    turn(3);
    ok(channel_backlog(taken->channel) > 0, "not all of it is sent");
    for (int i = 1; i < N; i++)
        at += seal_bytes(k.out, (uint16_t)(77 + i), 1000, bytes + at);
    put(k.fd, bytes, at); /* in one go, as the end discards what is not sent */
    (void)setsockopt(k.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    knowing_end(&k);
    until(taken->closed);
    is_int(taken->messages, N, "all that was said before is heard");
    is_int(taken->closed, 1, "and then the end");
}

/* --- somebody stands between the two -------------------------------------- */

/* Two sealed messages, and what becomes of them on the way. */
struct way {
    uint8_t first[64], second[64];
    size_t len; /* of each */
};

static void pass_on(int fd, const struct way *w)
{
    put(fd, w->first, w->len);
    put(fd, w->second, w->len);
}

static void drop_one(int fd, const struct way *w)
{
    put(fd, w->second, w->len);
}

static void swap(int fd, const struct way *w)
{
    put(fd, w->second, w->len);
    put(fd, w->first, w->len);
}

static void repeat(int fd, const struct way *w)
{
    put(fd, w->first, w->len);
    put(fd, w->first, w->len);
}

static void change(int fd, const struct way *w, size_t at)
{
    uint8_t changed[64];

    memcpy(changed, w->first, w->len);
    changed[at] ^= 1;
    put(fd, changed, w->len);
}

static void change_type(int fd, const struct way *w)
{
    change(fd, w, 5);
}

static void change_body(int fd, const struct way *w)
{
    change(fd, w, MESSAGE_HEAD);
}

static void change_tag(int fd, const struct way *w)
{
    change(fd, w, w->len - 1);
}

static void insert(int fd, const struct way *w)
{
    struct message_head head = {100, TAG_BYTES};
    uint8_t forged[MESSAGE_HEAD + TAG_BYTES] = {0};

    (void)w;
    message_encode(forged, &head);
    put(fd, forged, sizeof forged);
}

static void insert_untagged(int fd, const struct way *w)
{
    (void)w;
    put_message(fd, 100, "", 0);
}

static void test_between(void)
{
    static const struct {
        const char *name;
        void (*send)(int fd, const struct way *w);
        int messages;
    } ways[] = {
        {"both as they were", pass_on, 2},
        {"the first is left out", drop_one, 0},
        {"their order is changed", swap, 0},
        {"the first comes twice", repeat, 1},
        {"another type", change_type, 0},
        {"another body", change_body, 0},
        {"another tag", change_tag, 0},
        {"one more, with any tag", insert, 0},
        {"one more, with none", insert_untagged, 0},
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (uint32_t hidden = 0; hidden <= 1; hidden++) {
            struct knowing k;
            struct way w;
            int all = ways[i].messages == 2;

            secret.encrypt = hidden;
            fresh();
            knowing_connect(&k);
            until(taken->opened);
            w.len = seal_bytes(k.out, 100, 5, w.first);
            (void)seal_bytes(k.out, 101, 5, w.second);
            ways[i].send(k.fd, &w);
            until(all ? taken->messages == 2 : taken->closed);
            ok(taken->messages == ways[i].messages && !taken->garbled
                   && (all || strstr(taken->why, "was changed")),
               "on the way: %s (%s)", ways[i].name,
               hidden ? "encrypted" : "readable");
            ok(!memcmp(w.first + MESSAGE_HEAD, "\0\7\16", 3) == !hidden,
               "only encryption hides it");
            knowing_end(&k);
        }
    secret.encrypt = 0;
}

/* Both have the secret, but call for another, or for something else. */
static void test_meant_for_others(void)
{
    static const struct parties others[] = {
        {PURPOSE_MESH, 3, FRONT_END},
        {PURPOSE_BROADCAST, 3, FRONT_END},
        {PURPOSE_SESSION, 3, 4},
        {PURPOSE_SESSION, FRONT_END, FRONT_END},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct sockaddr_in in;

        fresh();
        in = address();
        caller.channel = channel_call(base, (struct sockaddr *)&in, sizeof in,
                                      &secret, &others[i], &events, &caller);
        until(caller.closed && taken->closed);
        ok(!caller.opened && !taken->opened && strcmp(taken->why, foreign) == 0,
           "a call that is meant for others opens nothing");
    }
    open_both();
    is_int(channel_caller(taken->channel), 3, "one that is names its caller");
}

/* --- a stranger is called ------------------------------------------------- */

static int stranger_listen(struct sockaddr_in *in)
{
    socklen_t len = sizeof *in;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *in = (struct sockaddr_in){.sin_family = AF_INET};
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)in, len) < 0 || listen(fd, 8) < 0
        || getsockname(fd, (struct sockaddr *)in, &len) < 0)
        bail("cannot listen");
    return fd;
}

static void test_false_listeners(void)
{
    static const char *const what[] = {
        "a listener that echoes the hello is refused",
        "a challenge of another connection is refused",
        "a challenge under another secret is refused",
        "a message instead of the challenge is refused",
    };
    uint8_t hello[HELLO_BYTES], challenge[HANDSHAKE_MAX] = {0}, rest;
    struct sockaddr_in in;
    int at = stranger_listen(&in), fd;

    for (int i = 0; i < 4; i++) {
        struct handshake h;

        handshake_listen(&h, i == 2 ? &other : &secret, PURPOSE_SESSION,
                         FRONT_END);
        fresh();
        call(&secret, in);
        fd = accept(at, NULL, NULL);
        get_message(fd, MESSAGE_HELLO, hello, sizeof hello);
        if (i != 1) /* else as it was for the hello before */
            (void)listener_challenge(&h, hello, challenge);
        if (i == 0)
            put_message(fd, MESSAGE_HELLO, hello, sizeof hello);
        else
            put_message(fd, i == 3 ? MESSAGE_FREE : MESSAGE_CHALLENGE,
                        challenge, sizeof challenge);
        until(caller.closed);
        ok(!caller.opened && strcmp(caller.why, foreign) == 0, "%s", what[i]);
        ok(recv(fd, &rest, 1, 0) <= 0, "and gets no proof");
        close(fd);
    }
    fresh();
    call(&secret, in);
    close(accept(at, NULL, NULL));
    until(caller.closed);
    ok(!caller.opened && caller.closed == 1, "one that hangs up is heard");
    close(at);
}

/* All at once, as each takes HANDSHAKE_MS. */
static void test_silent(void)
{
    static const char *const what[] = {"a silent stranger is dropped",
                                       "so is one that says hello and no more",
                                       "and one that says half a head"};
    static const char late[] = "no answer within 5 s";
    uint8_t body[HELLO_BYTES] = {0};
    struct sockaddr_in in;
    int at = stranger_listen(&in), fd[3];
    int64_t start = now_ms();

    fresh();
    for (size_t i = 0; i < 3; i++) {
        fd[i] = stranger_connect();
        until(guests == i + 1);
    }
    put_message(fd[1], MESSAGE_HELLO, hello_for_us(body), HELLO_BYTES);
    put(fd[2], "EVS2", 4);
    call(&secret, in);
    until(guest[0].closed && guest[1].closed && guest[2].closed
          && caller.closed);
    for (size_t i = 0; i < 3; i++) {
        is_str(guest[i].why, late, what[i]);
        close(fd[i]);
    }
    is_str(caller.why, late, "a listener that is silent is given up");
    ok(now_ms() - start > HANDSHAKE_MS - 1500, "none before its time");
    close(at);
}

static void test_nobody_there(void)
{
    struct sockaddr_in in;

    fresh();
    in = address();
    listener_close(listener);
    listener = NULL;
    call(&secret, in);
    ok(caller.closed == 0, "a refused call does not tell from within");
    until(caller.closed);
    is_str(caller.why, "Connection refused", "but from the loop");
}

/* --- ends of channels ----------------------------------------------------- */

static void test_destroy(void)
{
    int after = 0;

    fresh();
    caller.destroy = taken->destroy = AT_OPENED;
    call(&secret, address());
    until(caller.opened && (taken->opened || taken->closed));
    ok(caller.opened == 1, "a channel may end itself when it opens");
    fresh();
    taken->destroy = AT_OPENED;
    call(&secret, address());
    until(caller.closed);
    ok(taken->opened == 1 && caller.closed == 1, "also the listener's end");
    open_both();
    taken->destroy = AT_MESSAGE;
    send_bytes(caller.channel, 100, 10);
    send_bytes(caller.channel, 101, 10);
    until(caller.closed);
    is_int(taken->messages, 1, "or at a message, and hears no other");
    open_both();
    caller.destroy = taken->destroy = AT_CLOSED;
    channel_hang_up(caller.channel);
    until(caller.closed && taken->closed);
    ok(caller.closed == 1 && taken->closed == 1, "or when it closes");
    fresh();
    caller.destroy = taken->destroy = AT_CLOSED;
    call(&other, address());
    until(caller.closed && taken->closed);
    ok(caller.closed == 1 && taken->closed == 1, "or is refused");
    open_both();
    taken->destroy = AT_DRAINED;
    send_bytes(taken->channel, 100, 10);
    until(taken->drained && caller.closed);
    ok(taken->drained == 1 && caller.messages == 1, "or has sent all");
    for (int i = 0; i < 12; i++) {
        open_both();
        send_bytes(caller.channel, 100, 100000);
        send_bytes(taken->channel, 100, 100000);
        for (int k = 0; k < i; k++)
            event_base_loop(base, EVLOOP_NONBLOCK);
        channel_destroy(caller.channel);
        channel_destroy(taken->channel);
        caller.channel = taken->channel = NULL;
        caller.destroyed = taken->destroyed = 1;
        turn(2);
        after += caller.after + taken->after;
    }
    is_int(after, 0, "or be ended at any turn of the loop, and hears no more");
    channel_destroy(NULL);
    listener_close(NULL);
    ok(1, "none at all may be destroyed");
}

static void test_backlog(void)
{
    static char sink[1 << 20];
    struct knowing k;
    size_t got = 0;

    fresh();
    knowing_connect(&k);
    until(taken->opened);
    turn(3);
    channel_backlog_mark(taken->channel, 1 << 20);
    taken->drained = 0;
    taken->most = 0;
    for (int i = 0; i < 32; i++)
        if (send_bytes(taken->channel, i + 1, 1 << 20) < 0)
            bail("cannot queue");
    turn(5);
    ok(channel_backlog(taken->channel) > 8 << 20,
       "what the other end does not read is backlog");
    ok(taken->drained == 0, "and is not drained");
    while (!taken->drained
           || got < 32 * (MESSAGE_HEAD + (1u << 20) + TAG_BYTES)) {
        ssize_t n = recv(k.fd, sink, sizeof sink, MSG_DONTWAIT);

        if (n == 0)
            bail("hung up");
        if (n > 0)
            got += (size_t)n;
        else
            turn(1);
    }
    ok(taken->most <= 1 << 20, "drained is heard at the mark or below");
    until(channel_backlog(taken->channel) == 0);
    ok(channel_backlog(taken->channel) == 0 && !taken->closed,
       "in the end nothing is left");
    knowing_end(&k);
}

/* --- the listener --------------------------------------------------------- */

/* Does /proc/net/tcp show a listener on 127.0.0.1 at port? */
static int is_loopback(uint16_t port)
{
    FILE *fp = fopen("/proc/net/tcp", "r");
    char line[256], want[40];
    int found = 0;

    snprintf(want, sizeof want, ": 0100007F:%04X 00000000:0000 0A", port);
    while (fp && fgets(line, sizeof line, fp))
        found |= strstr(line, want) != NULL;
    if (fp)
        fclose(fp);
    return found;
}

static void test_ports(void)
{
    struct listener *second = NULL;
    struct es_error err = {0};
    struct listener_setup setup;
    uint16_t port;

    fresh();
    port = listener_port(listener);
    ok(is_loopback(port), "a loopback listener is on loopback only");
    setup = door((struct port_range){port, port});
    is_int(listener_open(&second, &setup, &err), -1,
           "a range without a free port is refused");
    ok(!second && err.kind == ES_ENV && strstr(err.mend, "SrunPortRange"),
       "and what to widen is named");
    setup.ports.high = (uint16_t)(port > 65000 ? 65535 : port + 200);
    is_int(listener_open(&second, &setup, &err), 0,
           "the first free port of a range is taken");
    ok(second && listener_port(second) > port
           && listener_port(second) <= setup.ports.high,
       "and lies in it");
    listener_close(second);
    second = NULL;
    setup.ports = (struct port_range){2000, 1999};
    ok(listener_open(&second, &setup, NULL) == -1 && !second,
       "a reversed range has no port");
}

/* --- without memory ------------------------------------------------------- */

static void test_no_memory_take(void)
{
    struct channel *c = NULL;
    int fd[2], leaked = 0;
    long n;

    fresh();
    for (n = 0; !c && n < 100; n++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) < 0)
            bail("no sockets");
        fault_at = n;
        c = channel_take(base, fd[0], listener, &events, &caller);
        fault_at = -1;
        turn(1);
        leaked += !c && fcntl(fd[0], F_GETFD) >= 0;
        close(fd[1]);
    }
    ok(c && n > 1, "%ld allocation failures of taking one in survived", n - 1);
    is_int(leaked, 0, "each closed the connection");
    channel_destroy(c);
}

static void test_no_memory_call(void)
{
    struct sockaddr_in in;
    long n;

    fresh();
    in = address();
    for (n = 0; n < 100; n++) {
        int failed;

        fault_at = n;
        caller.channel = channel_call(base, (struct sockaddr *)&in, sizeof in,
                                      &secret, &parties, &events, &caller);
        failed = fault_at < 0;
        fault_at = -1;
        if (!failed)
            break;
        turn(1);
        channel_destroy(caller.channel); /* libevent hides one failure */
        caller.channel = NULL;
    }
    until(caller.opened || caller.closed);
    ok(n > 1 && caller.opened == 1 && caller.closed == 0,
       "%ld allocation failures of a call survived", n);
}

static void test_no_memory_listen(void)
{
    struct listener *l = NULL;
    struct es_error err = {0};
    struct listener_setup setup;
    long n;

    fresh();
    setup = door((struct port_range){0, 0});
    for (n = 0; !l && n < 100; n++) {
        fault_at = n;
        (void)listener_open(&l, &setup, &err);
        fault_at = -1;
    }
    ok(l && n > 1 && err.kind == ES_ENV,
       "%ld allocation failures of a listener survived", n - 1);
    listener_close(l);
}

static void test_no_memory_send(void)
{
    static uint8_t body[300000];
    size_t half = 0;
    long n;
    int rc = -1;

    open_both();
    turn(3);
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i * 7);
    channel_send(caller.channel, 100, body, 10); /* something is queued */
    for (n = 0; rc < 0 && n < 100; n++) {
        size_t before = channel_backlog(caller.channel);

        fault_at = n;
        rc = channel_send(caller.channel, 101, body, sizeof body);
        fault_at = -1;
        if (rc < 0)
            half += channel_backlog(caller.channel) - before;
    }
    ok(n > 1, "%ld allocation failures of sending survived", n - 1);
    is_int((intmax_t)half, 0, "none of them queued a part of the message");
    until(taken->messages == 2 || taken->closed);
    ok(taken->messages == 2 && !taken->garbled && !taken->disorder,
       "the message that is sent then arrives whole");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    if (secret_make(&secret) < 0 || secret_make(&other) < 0)
        bail("cannot begin");
    test_wrong_secret();
    test_strangers();
    test_false_proofs();
    test_false_listeners();
    test_silent();
    test_nobody_there();
    test_ports();
    test_right_secret();
    test_knowing();
    test_cuts();
    test_last_words();
    test_between();
    test_meant_for_others();
    test_end();
    test_bare();
    test_at_once();
    test_destroy();
    test_backlog();
    test_no_memory_take();
    test_no_memory_call();
    test_no_memory_listen();
    test_no_memory_send();
    finish();
    return done();
}
