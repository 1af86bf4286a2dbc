/* SPDX-License-Identifier: BSD-2-Clause */
/* The front end's end of a tree of agents that are not there: what each is sent
 * is counted, and each tells what the test wants it to. */
#include "launcher/session/order_tree.h"
#include "launcher/wire/order_message.h"
#include "launcher/wire/protocol.h"
#include "tap.h"

#include <event2/event.h>

#define N        40u
#define BRANCHES 3u

static struct event_base *base;
static struct order_tree *t;
static struct seen {
    unsigned relays, afters, others, bad;
    uint32_t last;  /* order */
    char own;       /* what it says to this node: its letter, '-' for nothing */
    unsigned below; /* nodes for which there is something in it */
} seen[N];

static void read_relay(struct seen *v, size_t node, const struct writer *w)
{
    struct msg_relay m;
    const uint8_t *p;
    size_t len;

    if (msg_read_relay(&m, w->buf, w->len) < 0)
        bail("no order");
    v->relays++;
    v->last = m.number;
    p = relay_body(&m, (uint32_t)node, &len);
    v->own = p && len == 1 ? (char)*p : '-';
    v->below = 0;
    for (uint32_t i = 0; i < N; i++)
        v->below += relay_body(&m, i, &len) != NULL;
}

static void on_send(void *arg, size_t node, uint16_t type, struct writer *w)
{
    struct seen *v = &seen[node];

    (void)arg;
    if (w->bad)
        v->bad++;
    else if (type == MSG_RELAY)
        read_relay(v, node, w);
    else if (type == MSG_AFTER)
        v->afters++;
    else
        v->others++;
    writer_clear(w);
}

static void begin(uint32_t n)
{
    const struct order_tree_setup setup = {
        .base = base, .n = n, .branches = BRANCHES, .send = on_send};

    order_tree_destroy(t);
    t = order_tree_create(&setup);
    if (!t)
        bail("no memory");
    memset(seen, 0, sizeof seen);
}

static void order(char c)
{
    struct writer w = {0};

    w.buf = malloc(1);
    if (!w.buf)
        bail("no memory");
    w.buf[0] = (uint8_t)c;
    w.len = w.cap = 1;
    order_tree_send(t, MSG_PUT, &w);
    if (w.buf)
        bail("it is not cleared");
}

static unsigned sent(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < N; i++)
        n += seen[i].relays;
    return n;
}

static void all_take(uint32_t number)
{
    for (size_t i = BRANCHES; i < N; i++)
        if (order_tree_taken(t, i, number) < 0)
            bail("it is refused");
}

static void end_waiting(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    event_base_loopbreak(base);
}

static void wait_ms(int ms)
{
    const struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (event_base_once(base, -1, EV_TIMEOUT, end_waiting, NULL, &tv) < 0)
        bail("no timer");
    event_base_dispatch(base);
}

/* Until a node has had so many from the front end, at most some seconds. */
static void await_relays(size_t node, unsigned n)
{
    for (int i = 0; i < 400 && seen[node].relays < n; i++)
        wait_ms(50);
}

static void test_few(void)
{
    begin(BRANCHES);
    order('a');
    order('b');
    ok(sent() == 2 * BRANCHES && seen[2].own == 'b' && seen[2].last == 2,
       "few nodes have each order from the front end itself");
    order_tree_before(t, 1);
    ok(seen[1].afters == 0, "and what is theirs comes behind it anyway");
    is_int(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0,
           "nobody is waited for");
}

static void test_many(void)
{
    begin(N);
    order('a');
    is_int(sent(), BRANCHES, "many have it from one another");
    order_tree_before(t, 20);
    order_tree_before(t, 20);
    ok(seen[20].afters == 1, "one that has it from another is told once that "
                             "what follows is for after it");
    all_take(1);
    order_tree_before(t, 21);
    ok(seen[21].afters == 0, "and not when it has it");
    is_int(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0,
           "when all have it nobody is waited for");
    is_int(order_tree_taken(t, 20, 2), -1, "nobody has what was not sent");
    wait_ms(ORDER_LATE_MS + 300);
    is_int(sent(), BRANCHES, "nobody has had it again");
}

static void test_late(void)
{
    unsigned right = 0;

    begin(N);
    order('a');
    order('b');
    for (size_t i = BRANCHES; i < N; i++)
        if (i != 4 && order_parent(BRANCHES, (uint32_t)i) != 4)
            (void)order_tree_taken(t, i, 2);
    (void)order_tree_taken(t, 4, 1);
    await_relays(4, 1);
    for (size_t i = BRANCHES; i < N; i++)
        right += seen[i].relays
                 == (i == 4                                     ? 1
                     : order_parent(BRANCHES, (uint32_t)i) == 4 ? 2
                                                                : 0);
    is_int(right, N - BRANCHES,
           "who lacks orders too long has those that it lacks from the front "
           "end, and so have its children");
    memset(seen, 0, sizeof seen);
    order('c');
    is_int(sent(), BRANCHES, "the next ones it may have from its parent again");
    all_take(3);
    order('d');
    await_relays(4, 1);
    is_int(seen[4].relays, 1, "who took one of those is late anew");
    for (unsigned i = 2; i < 8; i++) {
        order('e');
        await_relays(4, i);
    }
    memset(seen, 0, sizeof seen);
    order('k');
    ok(seen[4].relays == 1 && seen[13].relays == 1,
       "who is late again and again has all that follows at once");
    order_tree_before(t, 4);
    is_int((int)seen[4].afters, 0, "whatever it is told comes behind them");
    for (uint32_t i = 0; i < N; i++)
        order_tree_lost(t, i);
}

static void test_silent_subtree(void)
{
    begin(N);
    order('a');
    for (size_t i = BRANCHES; i < N; i++) {
        uint32_t r = (uint32_t)i;

        while (r != UINT32_MAX && r != 3)
            r = order_parent(BRANCHES, r);
        if (r != 3)
            (void)order_tree_taken(t, i, 1);
    }
    await_relays(3, 1);
    ok(seen[3].relays == 1 && seen[12].relays == 1 && seen[14].relays == 1
           && seen[39].relays == 0,
       "below it they are given the time to have it from those");
    await_relays(39, 1);
    is_int(seen[39].relays, 1, "but not for ever");
}

static void test_lost(void)
{
    begin(N);
    order('a');
    order_tree_lost(t, 0);
    ok(seen[3].relays == 1 && seen[4].relays == 1 && seen[5].relays == 1
           && sent() == 2 * BRANCHES,
       "the children of a node that is lost have it at once");
    memset(seen, 0, sizeof seen);
    order('b');
    is_int(sent(), 2 * BRANCHES - 1, "and all that follows");
    is_int((int)seen[0].relays, 0, "the lost one has nothing");
    all_take(2);
    is_int(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0,
           "nor is it waited for");
    order_tree_returned(t, 0);
    is_int((int)seen[0].relays, 0, "when it is back, nothing of before");
    order('c');
    ok(seen[0].relays == 1 && seen[0].last == 3, "but what follows");
    order_tree_lost(t, 20);
    order_tree_returned(t, 20);
    order('d');
    ok(seen[20].own == 'd', "from the front end itself");
    for (uint32_t i = 0; i < N; i++)
        order_tree_lost(t, i);
    is_int(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0,
           "all may be lost");
}

static void leave(void)
{
    struct writer nothing = {0};

    order_tree_send(t, MSG_LEAVE, &nothing);
}

/* A node leaves when it has passed that on, so they go from above. */
static void test_leave(void)
{
    begin(N);
    leave();
    is_int(sent(), BRANCHES, "that all are to leave goes the same way");
    for (uint32_t i = 0; i < N; i++)
        order_tree_lost(t, i);
    is_int(sent(), BRANCHES, "and they go without more words");
    is_int(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0,
           "then nobody is waited for");
    begin(N);
    leave();
    for (uint32_t i = N; i-- > 0;)
        order_tree_lost(t, i);
    is_int(sent(), BRANCHES, "so from below");
}

/* Of 0 to 12, 3 to 5 are below 0; it and they stop, or are lost before it has
 * passed the order. */
static void test_leave_broken(void)
{
    begin(N);
    leave();
    for (uint32_t i = 1; i < N; i++)
        if (order_parent(BRANCHES, i) != 0)
            order_tree_lost(t, i);
    await_relays(3, 1);
    ok(seen[3].relays == 1 && seen[4].relays == 1 && seen[5].relays == 1
           && sent() == BRANCHES + 3,
       "those below one that is stopped are told by the front end, soon");
    begin(N);
    leave();
    order_tree_lost(t, 0);
    is_int(sent(), BRANCHES, "it may have passed it on before it went");
    for (uint32_t i = 6; i < 12; i++)
        (void)order_tree_taken(t, i, 1);
    await_relays(3, 1);
    ok(seen[3].relays == 1 && seen[4].relays == 1 && seen[5].relays == 1,
       "if it has not they are told by the front end");
    order('x');
    ok(seen[3].last == 2 && seen[9].relays == 0,
       "and what follows, they alone");
}

/* As a graph gives some back, and goes on with the others. */
static void test_leave_some(void)
{
    static struct writer w[N];
    char to[N] = {0};

    begin(N);
    to[0] = to[4] = 1;
    order_tree_send_each(t, MSG_LEAVE, w, to);
    ok(sent() == BRANCHES && seen[0].below == 2 && seen[1].below == 0,
       "some are to leave: each has what is for those below it");
    order_tree_lost(t, 0);
    memset(seen, 0, sizeof seen);
    order('b');
    ok(seen[3].relays == 2 && seen[4].relays == 2 && seen[5].relays == 2
           && seen[4].own == 'b',
       "those below who has left have all they lack from the front end");
    order_tree_lost(t, 4);
    for (size_t i = BRANCHES; i < N; i++)
        (void)order_tree_taken(t, i, 2);
    order('c');
    ok(seen[15].own == 'c' && seen[17].own == 'c',
       "so have those below them, once it has left");
    is_int((int)seen[12].relays + (int)seen[6].relays, 0, "and no others");
}

static void test_goes_on(void)
{
    const struct order_tree_setup setup = {.base = base,
                                           .n = N,
                                           .branches = BRANCHES,
                                           .number = 7,
                                           .send = on_send};

    order_tree_destroy(t);
    t = order_tree_create(&setup);
    if (!t)
        bail("no memory");
    memset(seen, 0, sizeof seen);
    order_tree_before(t, 20);
    is_int((int)seen[20].afters, 0, "of another front end's all have all");
    is_int(order_tree_taken(t, 20, 7), 0, "which they may still tell");
    order('h');
    ok(seen[0].last == 8 && order_tree_number(t) == 8,
       "and it counts from where that ended");
}

static void test_each(void)
{
    static struct writer w[N];
    char to[N] = {0};

    begin(N);
    for (unsigned i = 0; i < N; i++) {
        w[i] = (struct writer){.buf = malloc(1), .len = 1, .cap = 1};
        if (!w[i].buf)
            bail("no memory");
        w[i].buf[0] = (uint8_t)('a' + i % 20);
        to[i] = i != 1;
    }
    w[2].bad = 1;
    order_tree_send_each(t, MSG_PUT, w, to);
    ok(sent() == BRANCHES && seen[0].own == 'a' && seen[1].own == '-',
       "what differs goes on the same way");
    ok(seen[2].bad == 1 && seen[2].own == '-',
       "for want of memory a node is lost, and only that");
    is_int((int)seen[0].below, 1 + 3 + 9 + 1,
           "to each no more than is for those below it");
    ok(!w[5].buf, "all is cleared");
}

static void test_large(void)
{
    struct writer w = {0};

    begin(N);
    w.buf = calloc(1, MESSAGE_BODY_MAX);
    w.len = w.cap = MESSAGE_BODY_MAX;
    if (!w.buf)
        bail("no memory");
    order_tree_send(t, MSG_COMMAND, &w);
    ok(sent() == 0 && seen[0].others == 1 && seen[N - 1].others == 1,
       "the largest message goes to each, as it is");
    w = (struct writer){.bad = 1};
    order_tree_send(t, MSG_COMMAND, &w);
    ok(seen[0].bad == 1 && seen[N - 1].bad == 1, "so does what there was no "
                                                 "memory for");
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no event loop");
    test_few();
    test_many();
    test_late();
    test_silent_subtree();
    test_lost();
    test_leave();
    test_leave_broken();
    test_leave_some();
    test_goes_on();
    test_each();
    test_large();
    order_tree_destroy(t);
    order_tree_destroy(NULL);
    event_base_free(base);
    return done();
}
