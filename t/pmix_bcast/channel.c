/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real sockets on loopback.  One end is a channel that we call with or take
 * in, the other a channel too or a stranger who writes what it likes.
 */
#include "pmix_bcast/channel.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/message.h"
#include "tap.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/time.h>

#define LIMIT_S 20 /* for what must come */

enum when { NEVER, AT_OPENED, AT_MESSAGE, AT_CLOSED };

struct end {
    struct channel *channel;
    int opened, closed, messages;
    uint16_t type;
    size_t len, total;
    int garbled;
    char why[100];
    enum when destroy;
};

static struct event_base *base;
static struct listener *listener;
static struct secret secret, other;
static struct end caller, taken;
static const struct secret *taken_secret;
static int done_at_closed, done_at_messages;

static void look(void)
{
    if ((done_at_closed && caller.closed + taken.closed >= done_at_closed)
        || (done_at_messages
            && caller.messages + taken.messages >= done_at_messages))
        event_base_loopbreak(base);
}

static void end_it(struct end *e, struct channel *c, enum when now)
{
    if (e->destroy != now)
        return;
    channel_destroy(c);
    e->channel = NULL;
}

static void on_opened(struct channel *c, void *arg)
{
    struct end *e = arg;

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

    e->messages++;
    e->type = type;
    e->len = len;
    e->total += len;
    for (size_t i = 0; i < len; i++)
        e->garbled |= body[i] != (uint8_t)(i * 7);
    end_it(e, c, AT_MESSAGE);
    look();
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct end *e = arg;

    snprintf(e->why, sizeof e->why, "%s", why);
    e->closed++;
    e->channel = NULL;
    if (e->destroy == AT_CLOSED)
        channel_destroy(c);
    look();
}

static const struct channel_events events = {
    .opened = on_opened, .message = on_message, .closed = on_closed};

static void on_connection(void *arg, int fd)
{
    (void)arg;
    taken.channel = channel_take(base, fd, taken_secret, &events, &taken);
}

/* Run the loop until so many ends have closed or messages have come. */
static void run_until(int closed, int messages)
{
    struct timeval limit = {LIMIT_S, 0};

    done_at_closed = closed;
    done_at_messages = messages;
    event_base_loopexit(base, &limit);
    event_base_dispatch(base);
}

static struct sockaddr_in address(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return in;
}

static void fresh(void)
{
    channel_destroy(caller.channel);
    channel_destroy(taken.channel);
    memset(&caller, 0, sizeof caller);
    memset(&taken, 0, sizeof taken);
    taken_secret = &secret;
    event_base_free(base); /* with the time-outs of the run before */
    base = event_base_new();
    listener_close(listener);
    if (listener_open(&listener, base, (struct port_range){0, 0}, 1,
                      on_connection, NULL, NULL)
        < 0)
        bail("no listener");
}

static void call(const struct secret *s)
{
    struct sockaddr_in in = address();

    caller.channel = channel_call(base, (struct sockaddr *)&in, sizeof in, s,
                                  &events, &caller);
    if (!caller.channel)
        bail("no channel");
}

/* Let the loop turn until both ends are open. */
static void open_both(void)
{
    call(&secret);
    for (int i = 0; i < 10000 && !(caller.opened && taken.opened); i++)
        event_base_loop(base, EVLOOP_ONCE);
}

static void send_bytes(struct channel *c, uint16_t type, size_t len)
{
    uint8_t *body = malloc(len + 1);

    for (size_t i = 0; body && i < len; i++)
        body[i] = (uint8_t)(i * 7);
    if (!body || channel_send(c, type, body, len) < 0)
        bail("cannot send");
    free(body);
}

static void test_right_secret(void)
{
    static const size_t sizes[] = {0, 1, 70000, 1 << 20};

    fresh();
    open_both();
    ok(caller.opened == 1 && taken.opened == 1, "one secret opens both ends");
    for (size_t i = 0; i < 4; i++) {
        send_bytes(caller.channel, (uint16_t)(100 + i), sizes[i]);
        run_until(0, (int)i + 1);
        ok(taken.type == 100 + i && taken.len == sizes[i] && !taken.garbled,
           "a message of %zu bytes arrives whole", sizes[i]);
    }
    for (int i = 0; i < 50; i++)
        send_bytes(taken.channel, (uint16_t)(200 + i), 1000);
    run_until(0, 54);
    ok(caller.messages == 50 && caller.type == 249 && !caller.garbled,
       "and many the other way, in order");
    is_int(channel_send(caller.channel, 100, "", MESSAGE_BODY_MAX + 1), -1,
           "a body over the bound is not sent");
    channel_hang_up(caller.channel);
    run_until(2, 0);
    ok(caller.closed == 1 && taken.closed == 1, "both ends hear of a hang-up");
    is_str(taken.why, "the other end has gone", "and why");
}

static void test_wrong_secret(void)
{
    fresh();
    call(&other);
    run_until(2, 0);
    ok(!caller.opened && !taken.opened, "two secrets open nothing");
    is_str(caller.why, "the other end does not know this step's secret",
           "the caller is told");
    ok(taken.closed == 1, "the listener drops it");
}

static const struct {
    const char *name;
    uint16_t type;
    uint32_t length; /* as told */
    size_t sent;     /* bytes of body that follow */
} strangers[] = {
    {"a message before the handshake", MESSAGE_FREE, 4, 4},
    {"a proof out of turn", MESSAGE_PROOF, MAC_BYTES, MAC_BYTES},
    {"a challenge to a listener", MESSAGE_CHALLENGE, HANDSHAKE_MAX,
     HANDSHAKE_MAX},
    {"a hello that is too short", MESSAGE_HELLO, 31, 31},
    {"a hello that is too long", MESSAGE_HELLO, 33, 33},
    {"a body over the handshake's bound", MESSAGE_HELLO, HANDSHAKE_MAX + 1, 0},
};

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
        run_until(1, 0);
        ok(taken.closed == 1 && !taken.opened && !taken.messages,
           "%s is dropped", strangers[i].name);
        close(fd);
    }
    fresh();
    fd = stranger_connect();
    put(fd, "GET / HTTP/1.0\r\n\r\n", 18);
    run_until(1, 0);
    is_str(taken.why, "the other end does not speak evenstep's protocol",
           "a web browser is dropped");
    close(fd);
    fresh();
    fd = stranger_connect();
    run_until(1, 0);
    is_str(taken.why, "no answer within 5 s", "a silent stranger is dropped");
    close(fd);
}

/* A proof that was heard once opens nothing the next time. */
static void test_replay(void)
{
    struct handshake h;
    struct message_head head;
    uint8_t bytes[MESSAGE_HEAD + HANDSHAKE_MAX], proof[MAC_BYTES];
    int fd;

    handshake_init(&h, &secret);
    for (int again = 0; again < 2; again++) {
        fresh();
        fd = stranger_connect();
        head = (struct message_head){MESSAGE_HELLO, NONCE_BYTES};
        message_encode(bytes, &head);
        caller_hello(&h, bytes + MESSAGE_HEAD);
        put(fd, bytes, MESSAGE_HEAD + NONCE_BYTES);
        for (int i = 0; i < 5; i++)
            event_base_loop(base, i < 2 ? EVLOOP_ONCE : EVLOOP_NONBLOCK);
        if (recv(fd, bytes, sizeof bytes, MSG_WAITALL) != sizeof bytes)
            bail("no challenge");
        if (!again)
            caller_proof(&h, bytes + MESSAGE_HEAD, proof);
        head = (struct message_head){MESSAGE_PROOF, MAC_BYTES};
        message_encode(bytes, &head);
        put(fd, bytes, MESSAGE_HEAD);
        put(fd, proof, sizeof proof);
        for (int i = 0; i < 100 && !taken.opened && !taken.closed; i++)
            event_base_loop(base, EVLOOP_ONCE);
        ok(taken.opened == !again,
           again ? "the same again is refused" : "a proof opens");
        close(fd);
    }
}

static void test_destroy(void)
{
    fresh();
    caller.destroy = taken.destroy = AT_OPENED;
    call(&secret);
    run_until(1, 0);
    ok(caller.opened == 1, "a channel may end itself when it opens");
    fresh();
    taken.destroy = AT_MESSAGE;
    open_both();
    send_bytes(caller.channel, 100, 10);
    send_bytes(caller.channel, 100, 10);
    run_until(1, 0);
    is_int(taken.messages, 1, "or at a message, and hears no other");
    fresh();
    caller.destroy = taken.destroy = AT_CLOSED;
    open_both();
    channel_hang_up(caller.channel);
    run_until(2, 0);
    ok(caller.closed == 1 && taken.closed == 1, "or when it closes");
    channel_destroy(NULL);
    ok(1, "none at all may be destroyed");
}

static void test_nobody_there(void)
{
    struct sockaddr_in in;

    fresh();
    in = address();
    listener_close(listener);
    listener = NULL;
    caller.channel = channel_call(base, (struct sockaddr *)&in, sizeof in,
                                  &secret, &events, &caller);
    ok(caller.closed == 0, "a refused call does not tell from within");
    run_until(1, 0);
    is_str(caller.why, "Connection refused", "but from the loop");
}

static void test_ports(void)
{
    struct listener *second = NULL;
    struct es_error err = {0};
    struct port_range range;

    fresh();
    range.low = range.high = listener_port(listener);
    is_int(listener_open(&second, base, range, 1, on_connection, NULL, &err),
           -1, "a range without a free port is refused");
    ok(err.kind == ES_ENV && strstr(err.mend, "SrunPortRange"),
       "and what to widen is named");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    base = event_base_new();
    if (!base || secret_make(&secret) < 0 || secret_make(&other) < 0)
        bail("cannot begin");
    test_right_secret();
    test_wrong_secret();
    test_strangers();
    test_replay();
    test_destroy();
    test_nobody_there();
    test_ports();
    fresh();
    listener_close(listener);
    event_base_free(base);
    return done();
}
