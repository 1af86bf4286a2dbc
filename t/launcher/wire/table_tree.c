/* SPDX-License-Identifier: BSD-2-Clause */
/* A table goes down a tree of agents, all in one event loop. */
#include "launcher/wire/table_tree.h"
#include "tap.h"

#include <event2/event.h>

#define AGENTS   23u
#define BRANCHES 3u
#define DEAF     4u /* nobody is at its door; child of rank 0 */

struct agent {
    struct wireup wireup;
    struct table_tree *tree;
    int told;
};

static struct event_base *base;
static struct secret secret;
static struct agent agent[AGENTS];
static struct writer fence;
static uint32_t missed[AGENTS];
static unsigned n_told, n_missed, want;

static void count(void)
{
    if (n_told + n_missed >= want)
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

static void on_missed(void *arg, uint32_t rank)
{
    (void)arg;
    missed[n_missed++] = rank;
    count();
}

static const struct table_tree_events events = {
    .receive = on_receive,
    .missed = on_missed,
};

static void open_agent(uint32_t rank, struct endpoint *e)
{
    struct table_tree_setup setup = {.base = base,
                                     .secret = &secret,
                                     .self = rank,
                                     .loopback = 1,
                                     .on = &events,
                                     .arg = &agent[rank]};

    if (table_tree_open(&agent[rank].tree, &setup, NULL) < 0)
        bail("no door");
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
    ok(table_branches(TABLE_DIRECT_MAX) == 0
           && table_branches(TABLE_DIRECT_MAX + 1) == TABLE_BRANCHES,
       "up to 64 agents the front end is that of all");
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

/* Somebody with the secret, but with nonsense. */
static void test_nonsense(void)
{
    struct endpoint at[2] = {{.node = "a"}, {.node = "b"}};
    struct wireup parent = {.rank = 0, .size = 2};

    table_tree_close(agent[0].tree);
    table_tree_close(agent[1].tree);
    wireup_clear(&agent[1].wireup);
    open_agent(0, &at[0]);
    open_agent(1, &at[1]);
    parent.agent = at;
    want = 1;
    n_told = n_missed = 0;
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
        open_agent(r, &at[r]);
    wireup_write(&table, at, AGENTS);
    m.table = table.buf;
    m.len = table.len;
    msg_write_fence(&fence, &m);
    test_tree();
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
