/* SPDX-License-Identifier: BSD-2-Clause */
/* A crowd that connects and says nothing, and one who has something to say. */
#include "pmix_bcast/listener.h"
#include "loop.h"
#include "pmix_bcast/channel.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CROWD 1000

static struct event *tick;
static struct secret secret;
static struct listener *listener;
static int called, turned_out, opened, fulls, closed;
static struct channel *friend; /* of the listener's end, once it is open */
static char why_full[100];

static void on_opened(struct channel *c, void *arg)
{
    (void)arg;
    friend = c;
    opened++;
}

static void on_caller_opened(struct channel *c, void *arg)
{
    (void)c;
    *(int *)arg += 1;
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    (void)c;
    (void)arg;
    (void)type;
    (void)body;
    (void)len;
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)arg;
    closed++;
    turned_out += strcmp(why, "too many others call") == 0;
}

static const struct channel_events events = {
    .opened = on_opened, .message = on_message, .closed = on_closed};
static const struct channel_events caller_events = {
    .opened = on_caller_opened, .message = on_message, .closed = on_closed};

static void on_called(void *arg, struct listener *l, int fd)
{
    (void)arg;
    called++;
    if (!channel_take(base, fd, l, &events, NULL))
        bail("no channel");
}

static void on_full(void *arg, const char *why)
{
    (void)arg;
    fulls++;
    snprintf(why_full, sizeof why_full, "%s", why);
}

static void on_tick(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static struct sockaddr_in address(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return in;
}

static int call_silently(void)
{
    struct sockaddr_in in = address();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0
        || (connect(fd, (struct sockaddr *)&in, sizeof in) < 0
            && errno != EINPROGRESS))
        bail("cannot call");
    return fd;
}

static void fresh(void)
{
    const struct listener_setup setup = {.base = base,
                                         .secret = &secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .loopback = 1,
                                         .called = on_called,
                                         .full = on_full};

    listener_close(listener);
    called = turned_out = opened = fulls = closed = 0;
    friend = NULL;
    if (listener_open(&listener, &setup, NULL) < 0)
        bail("no listener");
}

static int open_files(void)
{
    int n = 0;

    for (int fd = 0; fd < 4096; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* In the middle of a crowd one who knows the secret calls. */
static void test_crowd(void)
{
    static const struct parties parties = {PURPOSE_SESSION, 1, FRONT_END};
    static int crowd[CROWD];
    struct sockaddr_in in;
    struct channel *honest = NULL;
    int met = 0, before, most = 0;

    fresh();
    in = address();
    before = open_files();
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = call_silently();
        if (i == CROWD / 2)
            honest = channel_call(base, (struct sockaddr *)&in, sizeof in,
                                  &secret, &parties, &caller_events, &met);
        event_base_loop(base, EVLOOP_NONBLOCK);
        if (open_files() - before - i > most)
            most = open_files() - before - i;
    }
    until(met && opened && called == CROWD + 1);
    ok(met == 1 && opened == 1,
       "one who knows the secret gets through a crowd of %d", CROWD);
    is_int(called, CROWD + 1, "all are taken in, in time");
    is_int(turned_out, CROWD - UNPROVEN_MAX,
           "the oldest of the silent make room for the next");
    ok(most <= UNPROVEN_MAX + 4, "so that no more than %d are here at once",
       UNPROVEN_MAX);
    ok(channel_is_open(friend), "and who is proven stays");
    channel_destroy(friend);
    channel_destroy(honest);
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
}

/* 200 at once, all honest: none is turned out.  A caller that is cut off, as it may be
   on a machine that is far too busy, is gone, and not to be destroyed. */
enum { MANY = 200 };
static struct channel *callers[MANY];

static void on_caller_closed(struct channel *c, void *arg, const char *why)
{
    for (int i = 0; i < MANY; i++)
        if (callers[i] == c)
            callers[i] = NULL;
    on_closed(c, arg, why);
}

static void test_honest(void)
{
    static const struct channel_events own = {.opened = on_caller_opened,
                                              .message = on_message,
                                              .closed = on_caller_closed};
    struct sockaddr_in in;
    int met = 0;

    fresh();
    in = address();
    for (uint32_t i = 0; i < MANY; i++) {
        const struct parties parties = {PURPOSE_SESSION, i, FRONT_END};

        callers[i] = channel_call(base, (struct sockaddr *)&in, sizeof in,
                                  &secret, &parties, &own, &met);
    }
    until(met == MANY && opened == MANY);
    ok(met == MANY && opened == MANY && turned_out == 0,
       "%d who call at once are all let in", MANY);
    for (int i = 0; i < MANY; i++)
        channel_destroy(callers[i]);
    until(closed == MANY);
}

/* No descriptor is left: it waits, says so once, and goes on later. */
static void test_full(void)
{
    struct rlimit whole, tight;
    int fd, first;

    fresh();
    fd = call_silently();
    first = dup(0);
    if (first < 0 || getrlimit(RLIMIT_NOFILE, &whole) < 0)
        bail("no limit");
    close(first);
    tight = whole;
    tight.rlim_cur = (rlim_t)first;
    if (setrlimit(RLIMIT_NOFILE, &tight) < 0)
        bail("no tight limit");
    until(fulls);
    for (int64_t end = now_ms() + 300; now_ms() < end;)
        event_base_loop(base, EVLOOP_ONCE);
    ok(fulls == 1 && called == 0, "without a descriptor it says so, once");
    is_str(why_full, "Too many open files", "and why");
    (void)setrlimit(RLIMIT_NOFILE, &whole);
    until(called);
    is_int(called, 1, "with one again it goes on");
    close(fd);
}

/* Closed with callers still in the handshake. */
static void test_close(void)
{
    int fd[3];

    fresh();
    for (int i = 0; i < 3; i++)
        fd[i] = call_silently();
    until(called == 3);
    listener_close(listener);
    listener = NULL;
    for (int i = 0; i < 3; i++) {
        char byte;

        until(recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0);
        is_int(recv(fd[i], &byte, 1, MSG_DONTWAIT), 0,
               "a closed listener hangs up on who has not proved anything");
        close(fd[i]);
    }
}

static void on_refused(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    *(int *)arg = -1;
}

static const struct channel_events single_events = {
    .opened = on_caller_opened, .message = on_message, .closed = on_refused};

/* Is one who calls there let in? */
static int is_let_in(const char *text)
{
    static const struct parties parties = {PURPOSE_SESSION, 1, FRONT_END};
    int met = 0;
    struct channel *c;
    struct address to;

    if (address_parse(&to, text, listener_port(listener)) < 0)
        return 0;
    c = channel_call(base, (const struct sockaddr *)&to.at, to.len, &secret,
                     &parties, &single_events, &met);
    if (!c)
        return 0;
    until(met);
    if (met > 0)
        channel_destroy(c);
    return met > 0;
}

static void listen_at(enum loopback loopback)
{
    const struct listener_setup setup = {.base = base,
                                         .secret = &secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .loopback = loopback,
                                         .called = on_called,
                                         .full = on_full};

    listener_close(listener);
    if (listener_open(&listener, &setup, NULL) < 0)
        bail("no listener");
}

static void test_families(void)
{
    struct address six;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int has_ipv6 = fd >= 0 && address_parse(&six, "::1", 0) == 0
                   && bind(fd, (const struct sockaddr *)&six.at, six.len) == 0;

    if (fd >= 0)
        close(fd);
    listen_at(LOOPBACK_NO);
    ok(is_let_in("127.0.0.1"), "who listens everywhere hears IPv4");
    ok(!has_ipv6 || is_let_in("::1"), "and IPv6, if this machine has it");
    listen_at(LOOPBACK_IPV4);
    ok(is_let_in("127.0.0.1") && !is_let_in("::1"), "at 127.0.0.1 only that");
    if (has_ipv6)
        listen_at(LOOPBACK_IPV6);
    ok(!has_ipv6 || (is_let_in("::1") && !is_let_in("127.0.0.1")),
       "at ::1 only that");
    listener_close(listener);
    listener = NULL;
}

static void listen_there(const struct listen_at *at)
{
    const struct listener_setup setup = {.base = base,
                                         .secret = &secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .at = at,
                                         .called = on_called,
                                         .full = on_full};

    listener_close(listener);
    if (listener_open(&listener, &setup, NULL) < 0)
        bail("no listener");
}

/* 127.0.0.0/8 is all ours. */
static void test_addresses(void)
{
    const struct networks data = {
        .n = 2,
        .at = {{.ip = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 3}, .name = "lo"},
               {.ip = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 2}, .name = "lo"}}};
    struct listen_at at = {0};

    listen_at_add(&at, "127.0.0.2");
    listen_there(&at);
    ok(is_let_in("127.0.0.2") && !is_let_in("127.0.0.1"),
       "at one address only who calls there is heard");
    listen_at_networks(&at, &data);
    is_int(at.n, 2, "an address counts once");
    listen_there(&at);
    ok(is_let_in("127.0.0.2") && is_let_in("127.0.0.3")
           && !is_let_in("127.0.0.1"),
       "at two addresses both are heard, at one port");
    listen_at_add(&at, "192.0.2.1"); /* RFC 5737: nobody's */
    listen_there(&at);
    ok(is_let_in("127.0.0.1"), "where one is not ours all are heard");
    at.n = 0;
    for (int i = 1; i < 20; i++) {
        char text[ADDRESS_MAX];

        snprintf(text, sizeof text, "127.0.1.%d", i);
        listen_at_add(&at, text);
    }
    listen_there(&at);
    ok(is_let_in("127.0.0.1"), "and where there are too many");
    at.n = 0;
    listen_at_add(&at, "127.0.0.2");
    listen_at_add(&at, "");
    listen_there(&at);
    ok(is_let_in("127.0.0.1"), "or one that is not known");
    listener_close(listener);
    listener = NULL;
}

int main(void)
{
    struct timeval often = {0, 5000};
    struct rlimit limit;

    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        if (limit.rlim_cur < 2 * CROWD)
            skip_all("needs 2000 open files");
    }
    base = event_base_new();
    tick = base ? event_new(base, -1, EV_PERSIST, on_tick, NULL) : NULL;
    if (!tick || event_add(tick, &often) < 0 || secret_make(&secret) < 0)
        bail("cannot begin");
    test_families();
    test_addresses();
    test_crowd();
    test_honest();
    test_full();
    test_close();
    event_free(tick);
    event_base_free(base);
    return done();
}
