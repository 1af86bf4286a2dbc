/* SPDX-License-Identifier: BSD-2-Clause */
/* A table and orders go down a tree of agents, all in one event loop. */
#include "launcher/wire/table_tree.h"
#include "tap.h"

#include <event2/event.h>

#define AGENTS   23u
#define BRANCHES 3u
#define DEAF     4u /* nobody is at its door; child of rank 0 */

struct agent {
    struct wireup wireup;
    struct table_tree *tree;
    int told, orders;
    char got; /* what it is to have of the last order */
};

static struct event_base *base;
static struct secret secret;
static struct agent agent[AGENTS];
static struct writer fence;
static uint32_t missed[AGENTS];
static unsigned n_told, n_missed, n_ordered, want, passed;
static int is_passing_test;

static void count(void)
{
    if (n_told + n_missed + n_ordered >= want)
        event_base_loopbreak(base);
}

static int take(struct agent *a, const uint8_t *body, size_t len)
{
    struct msg_fence m;

    if (msg_read_fence(&m, body, len) < 0
        || wireup_take(&a->wireup, m.table, m.len) < 0)
        return -1;
    a->told++;
    table_tree_pass(a->tree, &a->wireup, m.branches, body, len);
    return 0;
}

static int on_receive(void *arg, const uint8_t *body, size_t len)
{
    if (take(arg, body, len) < 0)
        return -1;
    n_told++;
    count();
    return 0;
}

/* Passed on, and looked at. */
static int on_order(void *arg, const uint8_t *body, size_t len)
{
    struct agent *a = arg;
    struct msg_relay m;
    const uint8_t *own;
    size_t n;

    if (msg_read_relay(&m, body, len) < 0)
        return -1;
    table_tree_order(a->tree, &a->wireup, &m, body, len);
    own = relay_body(&m, a->wireup.rank, &n);
    a->got = n == 1 ? (char)own[0] : '-';
    a->orders++;
    n_ordered++;
    count();
    return 0;
}

static void on_missed(void *arg, uint32_t rank)
{
    (void)arg;
    missed[n_missed++] = rank;
    count();
}

static void on_passed(void *arg)
{
    const struct agent *a = arg;

    if (a != &agent[0])
        return;
    passed++;
    if (is_passing_test)
        event_base_loopbreak(base);
}

static const struct table_tree_events events = {
    .receive = on_receive,
    .order = on_order,
    .missed = on_missed,
    .passed = on_passed,
};

static void open_agent(uint32_t rank, uint32_t branches, struct endpoint *e)
{
    struct listen_at here = {0};
    struct table_tree_setup setup = {.base = base,
                                     .secret = &secret,
                                     .branches = branches,
                                     .at = &here,
                                     .on = &events,
                                     .arg = &agent[rank]};

    listen_at_add(&here, "127.0.0.1");
    if (table_tree_open(&agent[rank].tree, &setup, NULL) < 0)
        bail("no door");
    table_tree_set_self(agent[rank].tree, rank);
    agent[rank].wireup.rank = rank;
    agent[rank].wireup.size = AGENTS;
    snprintf(e->node, sizeof e->node, "n%u", rank);
    snprintf(e->address, sizeof e->address, "127.0.0.1");
    e->port = (uint16_t)(4000 + rank);
    e->door = rank == DEAF ? 1 : table_tree_door(agent[rank].tree);
}

static void test_shape(void)
{
    static int parents[65536];
    unsigned twice = 0, none = 0, n = sizeof parents / sizeof parents[0];

    for (uint32_t r = 0; r < TABLE_BRANCHES; r++)
        parents[r]++; /* the front end's */
    for (uint32_t r = 0; r < n; r++)
        for (uint64_t i = 0; i < TABLE_BRANCHES; i++)
            if (table_first_child(TABLE_BRANCHES, r) + i < n)
                parents[table_first_child(TABLE_BRANCHES, r) + i]++;
    for (uint32_t r = 0; r < n; r++) {
        none += parents[r] == 0;
        twice += parents[r] > 1;
    }
    ok(none == 0 && twice == 0, "each of 65,536 agents has one parent");
    ok(table_branches(TABLE_FETCH_MAX, 0) == 0
           && table_branches(TABLE_FETCH_MAX + 1, 0) == TABLE_BRANCHES,
       "with PMIx the front end is that of up to 64 agents");
    ok(table_branches(TABLE_BRANCHES, 1) == 0
           && table_branches(TABLE_BRANCHES + 1, 1) == TABLE_BRANCHES,
       "without it that of up to 8");
}

/* The front end tells its own children. */
static void tell_first(void)
{
    for (uint32_t r = 0; r < BRANCHES; r++)
        if (take(&agent[r], fence.buf, fence.len) < 0)
            bail("a table is refused");
}

static void test_tree(void)
{
    unsigned all = 0, same = 0;

    want = AGENTS - BRANCHES - 3; /* DEAF is missed, its children wait */
    tell_first();
    event_base_dispatch(base);
    ok(n_missed == 1 && missed[0] == DEAF,
       "a child that is not there is missed");
    is_int(n_told, want - 1, "all others have been told but its children");
    want = 4;
    n_told = n_missed = 0;
    is_int(on_receive(&agent[DEAF], fence.buf, fence.len), 0,
           "the front end tells it");
    event_base_dispatch(base);
    for (uint32_t r = 0; r < AGENTS; r++) {
        all += agent[r].told == 1;
        same += agent[r].wireup.agent
                && agent[r].wireup.agent[AGENTS - 1].port == 4000 + AGENTS - 1;
    }
    ok(all == AGENTS && same == AGENTS && n_missed == 0,
       "then all have the table, once");
}

/* The front end's own children get it; the one at whose door nobody is does not,
 * nor those below it. */
static void give_order(uint32_t number, const struct writer *const body[])
{
    struct writer w = {0};

    n_told = n_missed = n_ordered = 0;
    want = AGENTS - 4;
    for (uint32_t r = 0; r < AGENTS; r++)
        agent[r].got = 0;
    if (body)
        msg_write_relay_each(&w, number, MSG_PUT, body, 0, AGENTS);
    else
        msg_write_relay(&w, number, MSG_PUT, (const uint8_t *)"x", 1);
    for (uint32_t r = 0; r < BRANCHES; r++)
        if (on_order(&agent[r], w.buf, w.len) < 0)
            bail("an order is refused");
    event_base_dispatch(base);
    writer_clear(&w);
}

static int is_below_deaf(uint32_t r)
{
    while (r != UINT32_MAX && r != DEAF)
        r = order_parent(BRANCHES, r);
    return r == DEAF;
}

static void test_orders(void)
{
    static struct writer text[AGENTS];
    const struct writer *body[AGENTS];
    unsigned all = 0, own = 0, twice = 0;

    give_order(1, NULL);
    for (uint32_t r = 0; r < AGENTS; r++)
        all += agent[r].got == (is_below_deaf(r) ? 0 : 'x');
    is_int(all, AGENTS, "an order comes to all, but below who is not there");
    for (uint32_t r = 0; r < AGENTS; r++) {
        uint8_t c = (uint8_t)('a' + r % 3);

        text[r] = (struct writer){.buf = malloc(1), .len = 1, .cap = 1};
        if (!text[r].buf)
            bail("no memory");
        text[r].buf[0] = c;
        body[r] = r % 5 == 0 ? NULL : &text[r];
    }
    give_order(2, body);
    for (uint32_t r = 0; r < AGENTS; r++) {
        char c = r % 5 == 0 ? '-' : (char)('a' + r % 3);

        own += agent[r].got == (is_below_deaf(r) ? 0 : c);
        twice += agent[r].orders > 2;
        writer_clear(&text[r]);
    }
    is_int(own, AGENTS, "each has what is for it, on the same connections");
    is_int(twice, 0, "and has it once");
    ok(n_missed == 0, "who lacks an order is the front end's to find");
    table_tree_forget(agent[0].tree);
    give_order(3, NULL);
    is_int((int)n_ordered, AGENTS - 4,
           "a connection that has ended is made anew");
}

/* Of its three children one is not there. */
static void test_passing(void)
{
    struct writer w = {0};

    want = 1000;
    passed = 0;
    is_passing_test = 1;
    table_tree_forget(agent[0].tree);
    ok(!table_tree_is_passing(agent[0].tree), "nothing is on its way");
    msg_write_relay(&w, 4, MSG_LEAVE, NULL, 0);
    if (on_order(&agent[0], w.buf, w.len) < 0)
        bail("an order is refused");
    ok(table_tree_is_passing(agent[0].tree) && passed == 0,
       "what is to be passed on is on its way");
    event_base_dispatch(base);
    ok(!table_tree_is_passing(agent[0].tree) && passed > 0,
       "it is told when it has gone, or cannot");
    is_passing_test = 0;
    writer_clear(&w);
}

/* --- whoever knows the secret, but is not the parent ----------------------- */

static void on_stranger_opened(struct channel *c, void *arg)
{
    struct writer *w = arg;

    (void)channel_send(c, MSG_RELAY, w->buf, w->len);
}

static void on_stranger_message(struct channel *c,
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

static void on_stranger_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)arg;
    (void)why;
    event_base_loopbreak(base);
}

static void test_stranger(const struct endpoint *e)
{
    static const struct channel_events stranger = {
        .opened = on_stranger_opened,
        .message = on_stranger_message,
        .closed = on_stranger_closed,
    };
    const struct parties parties = {PURPOSE_TABLE, 2, 6};
    struct writer w = {0};
    struct address to;
    int had = agent[6].orders;

    msg_write_relay(&w, 4, MSG_PUT, (const uint8_t *)"y", 1);
    if (address_parse(&to, e->address, e->door) < 0
        || !channel_call(base, (const struct sockaddr *)&to.at, to.len, &secret,
                         &parties, &stranger, &w))
        bail("no call");
    want = 1000;
    event_base_dispatch(base);
    is_int(agent[6].orders, had, "an agent takes orders from its parent only");
    writer_clear(&w);
}

/* Somebody with the secret, but with nonsense. */
static void test_nonsense(void)
{
    struct endpoint at[2] = {{.node = "a"}, {.node = "b"}};
    struct wireup parent = {.rank = 0, .size = 2};

    table_tree_close(agent[0].tree);
    table_tree_close(agent[1].tree);
    wireup_clear(&agent[1].wireup);
    open_agent(0, 1, &at[0]);
    open_agent(1, 1, &at[1]);
    parent.agent = at;
    want = 1;
    n_told = n_missed = n_ordered = 0;
    table_tree_pass(agent[0].tree, &parent, 1, (const uint8_t *)"x", 1);
    event_base_dispatch(base);
    ok(n_missed == 1 && missed[0] == 1 && n_told == 0,
       "what is no table is not taken, and its sender knows");
}

int main(void)
{
    struct endpoint at[AGENTS] = {{.node = ""}};
    struct msg_fence m = {.branches = BRANCHES};
    struct writer table = {0};

    base = event_base_new();
    if (!base || secret_make(&secret) < 0)
        bail("no event loop, or no secret");
    test_shape();
    for (uint32_t r = 0; r < AGENTS; r++)
        open_agent(r, BRANCHES, &at[r]);
    wireup_write(&table, at, AGENTS);
    m.table = table.buf;
    m.len = table.len;
    msg_write_fence(&fence, &m);
    test_tree();
    test_orders();
    test_passing();
    test_stranger(&at[6]);
    test_nonsense();
    for (uint32_t r = 0; r < AGENTS; r++) {
        table_tree_close(agent[r].tree);
        wireup_clear(&agent[r].wireup);
    }
    table_tree_close(NULL);
    writer_clear(&table);
    writer_clear(&fence);
    event_base_free(base);
    return done();
}
