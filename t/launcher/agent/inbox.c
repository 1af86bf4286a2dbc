/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/inbox.h"
#include "launcher/wire/protocol.h"
#include "tap.h"

#include <event2/event.h>

#define RANK 9u

static struct event_base *base;
static struct inbox *in;
static char heard[200], passed[200]; /* a letter each, and what goes on */
static uint32_t told[10];
static unsigned n_told;

static void take(void *arg, uint16_t type, const uint8_t *body, size_t len)
{
    size_t n = strlen(heard);

    (void)arg;
    if (n + 2 < sizeof heard)
        heard[n] = len == 1 ? (char)body[0] : type == MSG_LEAVE ? '!' : '?';
}

static void pass_on(void *arg,
                    const struct msg_relay *m,
                    const uint8_t *body,
                    size_t len)
{
    size_t n = strlen(passed);

    (void)arg;
    (void)body;
    (void)len;
    passed[n] = (char)('0' + m->number);
}

static void taken(void *arg, uint32_t number)
{
    (void)arg;
    told[n_told++] = number;
    event_base_loopbreak(base);
}

static void begin(void)
{
    const struct inbox_setup setup = {.base = base,
                                      .rank = RANK,
                                      .take = take,
                                      .pass = pass_on,
                                      .taken = taken};

    inbox_destroy(in);
    in = inbox_create(&setup);
    if (!in)
        bail("no memory");
    memset(heard, 0, sizeof heard);
    memset(passed, 0, sizeof passed);
    n_told = 0;
}

static void order(int by_front, uint32_t number, char c)
{
    struct writer w = {0};
    int rc;

    msg_write_relay(&w, number, MSG_PUT, (const uint8_t *)&c, 1);
    rc = by_front ? inbox_front(in, MSG_RELAY, w.buf, w.len)
                  : inbox_parent(in, w.buf, w.len);
    if (rc < 0)
        bail("an order is refused");
    writer_clear(&w);
}

static void say(char c)
{
    if (inbox_front(in, MSG_RUN, (const uint8_t *)&c, 1) < 0)
        bail("what is said is refused");
}

static void after(uint32_t number)
{
    struct writer w = {0};

    write_u32(&w, number);
    if (inbox_front(in, MSG_AFTER, w.buf, w.len) < 0)
        bail("AFTER is refused");
    writer_clear(&w);
}

static void test_order(void)
{
    begin();
    order(0, 1, 'a');
    order(0, 1, 'a');
    order(1, 1, 'a');
    order(0, 2, 'b');
    is_str(heard, "ab", "each order is taken once, whoever brings it");
    is_str(passed, "12", "and passed on once");
    order(0, 4, 'd');
    is_str(heard, "ab", "after a gap the parent's is not");
    order(1, 3, 'c');
    order(0, 4, 'd');
    is_str(heard, "abcd", "but when the front end has filled it");
    event_base_dispatch(base);
    ok(n_told == 1 && told[0] == 4, "the front end is told once of a burst");
}

static void test_front_only(void)
{
    begin();
    order(1, 1, 'a');
    order(1, 5, 'e');
    is_str(heard, "ae", "the front end knows what it need not send");
    event_base_loop(base, EVLOOP_NONBLOCK);
    is_int(n_told, 0, "and that what it sends itself has come");
}

static void test_after(void)
{
    begin();
    say('x');
    after(2);
    say('y');
    after(3);
    say('z');
    is_str(heard, "x", "what is said after an order waits for it");
    order(0, 1, 'a');
    is_str(heard, "xa", "and not for the one before");
    order(0, 2, 'b');
    is_str(heard, "xaby", "comes then");
    say('w');
    is_str(heard, "xaby", "in the order in which it was said");
    order(1, 3, 'c');
    is_str(heard, "xabyczw", "also if the front end sends the order itself");
    say('v');
    is_str(heard, "xabyczwv", "and waits for nothing more");
    after(9);
    if (inbox_front(in, MSG_LEAVE, NULL, 0) < 0)
        bail("LEAVE is refused");
    is_str(heard, "xabyczwv!", "that the agent is to leave waits for nothing");
}

static void test_ends(void)
{
    begin();
    order(0, 1, 'a');
    after(2);
    say('x');
    inbox_away(in);
    order(0, 2, 'b');
    say('y');
    is_str(heard, "ay",
           "after the front end was lost the parent's orders do not count");
    order(1, 4, 'd');
    is_str(heard, "ayd", "its own do");
    inbox_begin(in);
    order(0, 4, 'd');
    order(0, 6, 'f');
    order(0, 5, 'A');
    is_str(heard, "aydA",
           "another front end goes on, and what is late of the "
           "one before is not taken");
    event_base_loop(base, EVLOOP_NONBLOCK);
    is_int(n_told, 0, "which hears nothing of the one before");
}

static void leave_by(int by_front, uint32_t number)
{
    struct writer w = {0};
    int rc;

    msg_write_relay(&w, number, MSG_LEAVE, NULL, 0);
    rc = by_front ? inbox_front(in, MSG_RELAY, w.buf, w.len)
                  : inbox_parent(in, w.buf, w.len);
    if (rc < 0)
        bail("LEAVE is refused");
    writer_clear(&w);
}

/* In each order of events: by the parent, by the front end, and again. */
static void test_leave(void)
{
    for (int first = 0; first < 2; first++) {
        begin();
        order(0, 1, 'a');
        leave_by(first, 2);
        leave_by(!first, 2);
        is_str(heard, "a!",
               first ? "to leave, by the front end"
                     : "to leave, by the parent");
        is_str(passed, "12", "which is passed on, once");
    }
    begin();
    leave_by(0, 2);
    is_str(heard, "", "what comes before it is not skipped");
    order(1, 1, 'a');
    leave_by(1, 2);
    is_str(heard, "a!", "but sent by the front end first");
}

static void test_scatter(void)
{
    static struct writer own = {0};
    const struct writer *body[2] = {NULL, &own};
    struct writer w = {0};

    begin();
    own = (struct writer){.buf = (uint8_t *)heard + 150, .len = 1, .cap = 1};
    heard[150] = 'm';
    msg_write_relay_each(&w, 1, MSG_PUT, body, RANK - 1, 2);
    if (inbox_parent(in, w.buf, w.len) < 0)
        bail("refused");
    is_str(heard, "m", "of what differs it takes what is its own");
    writer_clear(&w);
    msg_write_relay_each(&w, 2, MSG_PUT, body, RANK, 2);
    if (inbox_parent(in, w.buf, w.len) < 0)
        bail("refused");
    ok(strcmp(heard, "m") == 0 && strcmp(passed, "12") == 0,
       "what is not for it is only passed on");
    writer_clear(&w);
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no event loop");
    test_order();
    test_front_only();
    test_after();
    test_ends();
    test_leave();
    test_scatter();
    ok(inbox_front(in, MSG_RELAY, (const uint8_t *)"x", 1) < 0
           && inbox_parent(in, (const uint8_t *)"x", 1) < 0
           && inbox_front(in, MSG_AFTER, NULL, 0) < 0,
       "what is no order is refused");
    inbox_destroy(in);
    inbox_destroy(NULL);
    event_base_free(base);
    return done();
}
