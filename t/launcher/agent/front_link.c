/* SPDX-License-Identifier: BSD-2-Clause */
/* An agent's connection to its front end, which is this test, too: when it calls
 * again, and when it is over. */
#include "launcher/agent/front_link.h"
#include "fault.h"
#include "loop.h"
#include "tap.h"

#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

#define RANK 3

/* --- the front end ---------------------------------------------------------- */

static struct listener *listener;
static struct channel *channel;
static int turn_away;       /* so many more callers */
static int calls, received; /* connections, and messages of them */
static int heard;           /* callers that have proved themselves */
static uint32_t caller;

static void on_peer_opened(struct channel *c, void *arg)
{
    (void)arg;
    caller = channel_caller(c);
    heard++;
}

static void on_peer_message(struct channel *c,
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
    received++;
}

static void on_peer_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)arg;
    (void)why;
    channel = NULL;
}

static const struct channel_events peer_events = {
    .opened = on_peer_opened,
    .message = on_peer_message,
    .closed = on_peer_closed,
};

static void on_called(void *arg, struct listener *l, int fd)
{
    (void)arg;
    calls++;
    if (turn_away > 0) {
        turn_away--;
        close(fd);
        return;
    }
    channel = channel_take(base, fd, l, &peer_events, NULL);
}

/* --- the agent -------------------------------------------------------------- */

static struct agent_setup setup = {.node = "a0", .front_address = "127.0.0.1"};
static struct front_link *front;
static int opened, messages, full, drained, lost, asked, over;
static int stays;    /* lost() */
static int too_soon; /* may_call(), so often */

static void on_opened(void *arg)
{
    (void)arg;
    opened++;
}

static void on_message(void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    (void)arg;
    (void)body;
    messages += type == MSG_CLOCK && len == 0;
}

static void on_full(void *arg, int on)
{
    (void)arg;
    full += on;
    drained += !on;
}

static int on_lost(void *arg)
{
    (void)arg;
    lost++;
    return stays;
}

static int may_call(void *arg)
{
    (void)arg;
    asked++;
    return too_soon-- <= 0;
}

static void on_over(void *arg)
{
    (void)arg;
    over++;
}

static const struct front_link_events events = {
    .opened = on_opened,
    .message = on_message,
    .full = on_full,
    .lost = on_lost,
    .may_call = may_call,
    .over = on_over,
};

/* --- both ------------------------------------------------------------------- */

static void open_front_end(const char *secret)
{
    struct listener_setup door = {.base = base,
                                  .purpose = PURPOSE_SESSION,
                                  .self = FRONT_END,
                                  .loopback = 1,
                                  .called = on_called};
    static struct secret known;
    struct es_error err = {0};

    if (secret_from_hex(&known, secret) < 0)
        bail("no secret");
    door.secret = &known;
    if (listener_open(&listener, &door, &err) < 0)
        bail("%s", err.what);
    setup.front_port = listener_port(listener);
}

static void close_front_end(void)
{
    channel_destroy(channel);
    channel = NULL;
    listener_close(listener);
    listener = NULL;
}

/* The secret of the agent, and of a front end that is another's. */
static char ours[SECRET_HEX_LEN + 1], theirs[SECRET_HEX_LEN + 1];

static void begin(const char *secret)
{
    open_front_end(secret);
    opened = messages = full = drained = lost = asked = over = 0;
    calls = received = heard = turn_away = stays = too_soon = 0;
    front = front_link_create(base, &setup, &events, NULL);
    if (!front || front_link_call(front, RANK, NULL) < 0)
        bail("cannot call");
}

static void end(void)
{
    front_link_destroy(front);
    close_front_end();
}

static int reached(const int *count, int n)
{
    until(*count >= n);
    return *count == n;
}

/* --- tests ------------------------------------------------------------------ */

static void test_talk(void)
{
    struct writer w = {0};

    begin(ours);
    ok(front_link_is_up(front) && !front_link_is_open(front),
       "a call is under way");
    ok(reached(&opened, 1) && reached(&heard, 1) && front_link_is_open(front)
           && front_link_was_open(front) && caller == RANK,
       "the front end is there, and knows who calls");
    write_u32(&w, 7);
    front_link_send(front, MSG_TAKEN, &w);
    ok(reached(&received, 1) && !w.buf, "it is told something");
    (void)channel_send(channel, MSG_CLOCK, NULL, 0);
    ok(reached(&messages, 1), "and tells something");
    end();
}

static void test_turned_away(void)
{
    begin(ours);
    turn_away = 3;
    ok(reached(&opened, 1) && calls == 4 && lost == 0 && over == 0,
       "who is turned away at the start comes again");
    end();
}

static void test_lost(void)
{
    begin(ours);
    stays = too_soon = 1;
    (void)reached(&opened, 1);
    channel_hang_up(channel);
    ok(reached(&lost, 1) && !front_link_is_open(front)
           && front_link_was_open(front) && !front_link_is_up(front),
       "the connection is lost");
    ok(reached(&opened, 2) && asked == 2 && over == 0,
       "it is called again, but not too early");
    stays = 0;
    channel_hang_up(channel);
    ok(reached(&over, 1) && lost == 2 && calls == 2, "unless it need not be");
    end();
}

static void test_nobody(void)
{
    struct es_error err = {0};
    char want[100];

    begin(ours);
    stays = 1;
    (void)reached(&opened, 1);
    close_front_end();
    ok(reached(&lost, 1) && over == 0, "the front end is lost");
    ok(reached(&over, 1) && lost == 1,
       "where nobody listens it is not called once more");
    snprintf(want, sizeof want,
             "a0: no front end at 127.0.0.1:%u: ", setup.front_port);
    ok(front_link_fail(front, "mend", &err) == -1 && strstr(err.what, want),
       "which can be said: %s", err.what);
    front_link_destroy(front);
}

static void test_stranger(void)
{
    begin(theirs);
    ok(reached(&over, 1) && lost == 1 && calls == 1 && opened == 0,
       "who cannot prove who it is is not called again");
    end();
}

static void test_dismissed(void)
{
    begin(ours);
    stays = 1;
    (void)reached(&opened, 1);
    front_link_dismiss(front);
    channel_hang_up(channel);
    ok(reached(&over, 1) && lost == 0,
       "the end of one that is dismissed is told");
    end();
}

static void test_full(void)
{
    enum { LEN = 1 << 20 };
    static uint8_t zeros[LEN];
    int sent = 0;

    begin(ours);
    (void)reached(&opened, 1);
    while (full == 0 && sent < 100) {
        struct writer w = {0};

        write_blob(&w, zeros, LEN);
        front_link_send(front, MSG_OUTPUT, &w);
        sent++;
    }
    ok(full == 1 && sent >= 4 && drained == 0,
       "no more output, please, when %d MiB wait", sent);
    ok(reached(&drained, 1) && reached(&received, sent),
       "then more again, and nothing is lost");
    end();
}

/* The next front end has called; its channel is handed over by whoever heard it. */
static void test_taken(void)
{
    const struct parties parties = {PURPOSE_SESSION, RANK, FRONT_END};
    const struct channel_events none = {.message = on_peer_message,
                                        .closed = on_peer_closed};
    struct address at;
    struct channel *next;
    uint16_t first;

    begin(ours);
    stays = 1;
    (void)reached(&opened, 1);
    (void)reached(&heard, 1);
    first = setup.front_port;
    front_link_dismiss(front);
    close_front_end();
    open_front_end(ours);
    (void)address_parse(&at, "127.0.0.1", listener_port(listener));
    next = channel_call(base, (const struct sockaddr *)&at.at, at.len,
                        &setup.secret, &parties, &none, NULL);
    if (!next || !reached(&heard, 2))
        bail("no other front end");
    while (!channel_is_open(next))
        (void)event_base_loop(base, EVLOOP_ONCE);
    over = lost = 0;
    front_link_take(front, next, listener_port(listener));
    setup.front_port = first; /* as it was when the agent was started */
    ok(front_link_is_open(front) && opened == 1, "another front end is there");
    (void)channel_send(channel, MSG_CLOCK, NULL, 0);
    ok(reached(&messages, 1), "and is heard");
    channel_hang_up(channel);
    ok(reached(&opened, 2) && lost == 1 && over == 0,
       "lost, it is called where it listens itself");
    end();
}

static void test_memory(void)
{
    struct front_link *l = NULL;
    long n = 0;

    do {
        fault_at = n++;
        l = front_link_create(base, &setup, &events, NULL);
        fault_at = -1;
    } while (!l && n < 100);
    ok(l && n > 1, "without memory there is none, and nothing is left");
    front_link_destroy(l);
}

int main(void)
{
    struct secret other;

    base = event_base_new();
    if (!base || secret_make(&setup.secret) < 0 || secret_make(&other) < 0)
        bail("cannot begin");
    secret_to_hex(&setup.secret, ours);
    secret_to_hex(&other, theirs);
    test_talk();
    test_turned_away();
    test_lost();
    test_nobody();
    test_stranger();
    test_dismissed();
    test_full();
    test_taken();
    test_memory();
    event_base_free(base);
    return done();
}
