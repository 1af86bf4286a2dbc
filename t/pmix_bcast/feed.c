/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Home with a link of its own and nodes that relay what they are given, each
 * at its pace: the time passes in steps, and feed.h decides.
 */
#include "pmix_bcast/feed.h"
#include "fault.h"
#include "tap.h"

#define NODES  8u
#define CHUNKS 400u
#define CHUNK  4096u
#define SLOT   0.001  /* s of a chunk on home's link */
#define PASSED 0.0071 /* s in which a node relays one: to 7 others */

struct node {
    uint32_t queue[CHUNKS], first, n; /* given, not relayed */
    double pace, free;                /* s a chunk; when it is done */
    unsigned given;
    int stopped;
};

static struct plan plan;
static struct feed *feed;
static struct node node[NODES];
static unsigned given[CHUNKS], relayed[CHUNKS], gives, as_root;
static double clock_s, link_free;

static void create(enum plan_shape shape,
                   uint32_t nodes,
                   uint32_t branches,
                   uint32_t chunks)
{
    struct plan_wish w = {(uint64_t)chunks * CHUNK, nodes, branches, CHUNK,
                          shape};

    feed_destroy(feed);
    if (plan_make(&plan, &w, NULL) < 0 || plan.chunks > CHUNKS)
        bail("no plan");
    feed = feed_create(&plan, 7, 0);
    if (!feed)
        bail("no feed");
    memset(node, 0, sizeof node);
    memset(given, 0, sizeof given);
    memset(relayed, 0, sizeof relayed);
    gives = as_root = 0;
    clock_s = link_free = 0;
    for (uint32_t v = 0; v < nodes; v++)
        node[v].pace = PASSED;
}

static void connect_all(void)
{
    for (uint32_t v = 0; v < plan.nodes; v++)
        feed_connected(feed, v, clock_s);
}

static void stripes(void)
{
    create(PLAN_STRIPES, NODES, 0, CHUNKS);
    connect_all();
}

static void give(void)
{
    struct feed_give g;
    struct node *n;

    if (link_free > clock_s || !feed_next(feed, &g, clock_s))
        return;
    if (g.is_there)
        return;
    link_free = clock_s + SLOT;
    n = &node[g.node];
    if (n->n == 0)
        n->free = link_free + n->pace;
    n->queue[(n->first + n->n++) % CHUNKS] = g.chunk;
    n->given++;
    given[g.chunk]++;
    gives++;
    as_root += (unsigned)g.as_root;
}

static void relay(uint32_t v)
{
    struct node *n = &node[v];
    uint32_t chunk;

    if (n->stopped || n->n == 0 || n->free > clock_s)
        return;
    chunk = n->queue[n->first];
    n->first = (n->first + 1) % CHUNKS;
    n->n--;
    n->free += n->pace;
    relayed[chunk]++;
    feed_relayed(feed, v, chunk, clock_s);
}

static void run_until(double end)
{
    while (clock_s < end && !feed_is_done(feed)) {
        for (uint32_t v = 0; v < plan.nodes; v++)
            relay(v);
        give();
        clock_s += SLOT / 10;
        if ((uint64_t)(clock_s / SLOT * 10) % 100 == 0)
            feed_tick(feed, clock_s);
    }
}

static unsigned missing(void)
{
    unsigned n = 0;

    for (uint32_t j = 0; j < plan.chunks; j++)
        n += relayed[j] == 0;
    return n;
}

static void test_well(void)
{
    struct feed_give g;
    int order = 1;

    stripes();
    for (uint32_t j = 0; j < NODES; j++)
        order &= feed_next(feed, &g, SLOT * j) && g.chunk == j && g.node == j
                 && !g.as_root;
    ok(order, "chunks go in order, each to the root of its tree");
    ok(!feed_is_done(feed), "given is not done");
    stripes();
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0, "at last all are relayed");
    ok(gives == CHUNKS && as_root == 0, "every chunk was given once");
    ok(!feed_next(feed, &g, clock_s), "and there is nothing more to give");
    ok(clock_s < 1.1 * SLOT * CHUNKS,
       "nodes that keep pace hold home not up: "
       "%.3f of the link's time",
       clock_s / (SLOT * CHUNKS));
    create(PLAN_STRIPES, NODES, 0, 0);
    ok(feed_is_done(feed) && !feed_next(feed, &g, 0),
       "of no bytes all is done");
}

static void test_connecting(void)
{
    struct feed_give g;
    unsigned n = 0;

    create(PLAN_STRIPES, NODES, 0, CHUNKS);
    ok(!feed_next(feed, &g, 0.05), "with nobody there nothing is given");
    for (uint32_t v = 1; v < NODES; v++)
        feed_connected(feed, v, 0.05);
    ok(!feed_next(feed, &g, 0.06), "a root that may yet come is waited for");
    ok(feed_next(feed, &g, 0.2) && g.chunk == 0 && g.node != 0 && g.as_root,
       "but not for long: another takes its place");
    feed_connected(feed, 0, 0.2);
    while (n < 100 && feed_next(feed, &g, 0.2 + SLOT * n) && g.node != 0)
        n++;
    ok(n < NODES + 1, "one that comes late has its place again");
    create(PLAN_BRANCHES, NODES, 2, 4);
    feed_connected(feed, 1, 0);
    ok(!feed_next(feed, &g, 5), "branches: a root is waited for");
    feed_lost(feed, 0);
    ok(feed_next(feed, &g, 5) && g.node == 1 && g.chunk == 0 && g.as_root,
       "until it is lost");
    create(PLAN_STRIPES, 1, 0, 4);
    feed_connected(feed, 0, 0);
    ok(feed_next(feed, &g, 0) && feed_next(feed, &g, 0.1),
       "one that is alone is given chunks");
    feed_lost(feed, 0);
    ok(!feed_next(feed, &g, 0.2), "none while it is lost");
    feed_connected(feed, 0, 0.3);
    for (n = 0; n < 10 && feed_next(feed, &g, 0.3 + SLOT * n); n++)
        feed_relayed(feed, 0, g.chunk, 0.3 + SLOT * n);
    ok(n == 4 && feed_is_done(feed), "and all when it is back");
}

/* One that takes chunks and relays none. */
static void test_hung(void)
{
    unsigned before;

    stripes();
    run_until(0.4 * SLOT * CHUNKS);
    node[3].stopped = 1;
    run_until(0.9 * SLOT * CHUNKS);
    before = node[3].given;
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0,
       "what a hung node has not relayed others are given");
    ok(node[3].given == before && node[3].given <= CHUNKS / NODES / 2 + 9,
       "and it itself nothing more");
    ok(gives <= CHUNKS + 10, "just that is given twice: %u of %u", gives,
       CHUNKS);
    ok(clock_s < 1.3 * SLOT * CHUNKS + 0.2,
       "nor does it hold the others up: "
       "%.3f s",
       clock_s);
}

/* Before its first word, when there is little to give. */
static void test_hung_early(void)
{
    create(PLAN_STRIPES, NODES, 0, 5 * NODES);
    connect_all();
    node[3].stopped = 1;
    run_until(5);
    is_int(missing(), 0, "who never says a word is found within 5 s, too");
}

static void test_back(void)
{
    unsigned before;

    stripes();
    run_until(0.2 * SLOT * CHUNKS);
    node[3].stopped = 1;
    run_until(0.7 * SLOT * CHUNKS);
    before = node[3].given;
    node[3].stopped = 0;
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0 && node[3].given > before,
       "who hung for a while is given chunks again");
}

/* The network stands still for a while, and then all say what they did. */
static void test_late_word(void)
{
    stripes();
    run_until(0.4 * SLOT * CHUNKS);
    clock_s += 5;
    feed_tick(feed, clock_s);
    for (uint32_t v = 0; v < NODES; v++)
        for (node[v].free = 0; node[v].n > 0;)
            relay(v);
    run_until(20);
    ok(feed_is_done(feed) && missing() == 0, "all are relayed after a halt");
    is_int(gives, CHUNKS, "what is relayed after all is not given again");
}

static void test_slow(void)
{
    stripes();
    node[5].pace = 4 * PASSED;
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0, "a slow node: all are relayed");
    ok(node[5].given > 0 && node[5].given < CHUNKS / NODES / 2,
       "it is given less: %u of %u", node[5].given, CHUNKS);
    ok(gives <= CHUNKS * 102 / 100, "hardly anything is given twice: %u",
       gives);
    ok(clock_s < 1.25 * SLOT * CHUNKS,
       "the others do not wait for it: %.3f of "
       "the link's time",
       clock_s / (SLOT * CHUNKS));
}

/* All wait for a node that becomes slow when there is nothing else to give. */
static void test_slow_end(void)
{
    stripes();
    run_until(0.96 * SLOT * CHUNKS);
    node[5].pace = 10 * PASSED;
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0 && gives > CHUNKS
           && gives <= CHUNKS * 101 / 100,
       "a node that is slow in the end: a percent is given again: %u", gives);
}

static void test_lost(void)
{
    struct feed_give g;
    unsigned to_lost = 0;

    stripes();
    node[2].stopped = 1;
    run_until(0.1 * SLOT * CHUNKS);
    feed_lost(feed, 2);
    feed_lost(feed, 2);
    to_lost = node[2].given;
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0 && node[2].given == to_lost,
       "what a lost node had others are given");
    ok(gives == CHUNKS + to_lost, "and only that: %u of %u", gives, CHUNKS);
    stripes();
    run_until(0.1 * SLOT * CHUNKS);
    for (uint32_t v = 0; v < NODES; v++)
        feed_lost(feed, v);
    ok(!feed_next(feed, &g, 1) && !feed_is_done(feed),
       "with all lost there is nobody to give to");
}

/* It had the first n chunks, and sends those that are its own to give. */
static unsigned had(uint32_t v, uint32_t n)
{
    feed_has(feed, v, 0, n);
    for (uint32_t j = v; j < n; j += NODES)
        node[v].queue[node[v].n++] = j;
    node[v].free = clock_s + node[v].pace;
    return node[v].n;
}

static void test_had(void)
{
    unsigned own, before;

    stripes();
    own = had(2, CHUNKS / 2);
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0,
       "with one that had half of it all is relayed");
    ok(own == CHUNKS / NODES / 2 && gives == CHUNKS - own && as_root == 0,
       "what it is the root of is not given");
    stripes();
    for (uint32_t v = 0; v < NODES; v++)
        (void)had(v, CHUNKS);
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0 && gives == 0,
       "of what all roots had nothing is given");
    stripes();
    own = had(2, CHUNKS / 2);
    run_until(5 * PASSED);
    before = node[2].n;
    feed_lost(feed, 2);
    node[2].stopped = 1;
    run_until(10);
    ok(before > 0 && before < own && feed_is_done(feed) && missing() == 0,
       "what a lost one has not passed on is given to others");
    stripes();
    node[0].pace = 4 * PASSED;
    for (uint32_t v = 1; v < NODES; v++)
        (void)had(v, CHUNKS);
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0 && as_root == 0
           && gives == CHUNKS / NODES,
       "who may have it is not sent it in another's place");
    feed_has(feed, NODES, 0, CHUNKS);
    stripes();
    (void)had(2, CHUNKS);
    node[2].stopped = 1;
    run_until(20);
    ok(feed_is_done(feed) && missing() == 0 && gives == CHUNKS,
       "what one that hangs has and does not pass on is given to others");
    stripes();
    own = had(2, CHUNKS);
    node[2].stopped = 1;
    run_until(2.5);
    node[2].stopped = 0;
    run_until(20);
    ok(feed_is_done(feed) && missing() == 0 && gives > CHUNKS - own,
       "and if it goes on after all, that is no matter");
}

/* One of several connections to a node broke: what it took is lost, and the
 * node is there. */
static void test_rail(void)
{
    unsigned before;

    stripes();
    run_until(0.1 * SLOT * CHUNKS);
    before = node[2].given;
    node[2].n = 0;
    feed_again(feed, 2);
    feed_again(feed, NODES);
    run_until(10);
    ok(feed_is_done(feed) && missing() == 0, "what was on it is given again");
    ok(node[2].given > before && gives < CHUNKS + CHUNKS / 8,
       "and no more than that, and the node goes on: %u of %u", gives, CHUNKS);
}

static void test_one(void)
{
    create(PLAN_STRIPES, 1, 0, CHUNKS);
    connect_all();
    run_until(10);
    ok(feed_is_done(feed) && gives == CHUNKS, "one node is given all, once");
    create(PLAN_STRIPES, 1, 0, CHUNKS);
    connect_all();
    node[0].pace = 3 * SLOT;
    run_until(0.2);
    node[0].stopped = 1;
    run_until(3);
    node[0].stopped = 0;
    run_until(20);
    ok(feed_is_done(feed) && missing() == 0,
       "also if it is slow, and hangs for a while");
}

/* Nodes may say what they like. */
static void test_lies(void)
{
    struct feed_give g;

    stripes();
    feed_relayed(feed, NODES, 0, 0);
    feed_relayed(feed, UINT32_MAX, 0, 0);
    feed_relayed(feed, 0, CHUNKS, 0);
    feed_relayed(feed, 0, UINT32_MAX, 0);
    feed_relayed(feed, 0, 0, 0);
    feed_lost(feed, NODES);
    feed_connected(feed, NODES, 0);
    feed_queued(feed, NODES, 1);
    if (!feed_next(feed, &g, 0))
        bail("nothing given");
    feed_relayed(feed, 1, 0, 0.1);
    feed_relayed(feed, 0, 0, 0.1);
    feed_relayed(feed, 0, 0, 0.1);
    run_until(10);
    ok(feed_is_done(feed) && missing() == 1 && relayed[0] == 0,
       "words of who has nothing, or of no node or chunk, count nothing");
}

/* Fewer chunks than branches: some are given several times. */
static void test_few_chunks(void)
{
    create(PLAN_BRANCHES, NODES, 5, 2);
    connect_all();
    run_until(10);
    for (int i = 0; i < 100; i++)
        feed_tick(feed, 10 + i);
    run_until(20);
    ok(feed_is_done(feed) && gives == 5 && missing() == 0,
       "branches: each is given a chunk");
}

static void test_budget(void)
{
    struct plan_wish large = {64u << 20, NODES, 0, 1 << 20, PLAN_STRIPES};
    struct feed_give g;

    stripes();
    ok(feed_budget(feed) == 128 << 10, "at first 128 KiB may wait");
    for (uint32_t v = 0; v < NODES; v++)
        feed_queued(feed, v, 0);
    ok(feed_waiting(feed) == 0, "nothing waits");
    feed_queued(feed, 1, 1000);
    feed_queued(feed, 2, 500);
    ok(feed_waiting(feed) == 1500, "what waits adds up");
    feed_queued(feed, 1, UINT64_MAX);
    ok(feed_waiting(feed) == 500 + feed_budget(feed) / 3 + 1,
       "one node's is at most a third of the budget");
    feed_queued(feed, 2, UINT64_MAX / 4);
    feed_queued(feed, 3, UINT64_MAX / 4);
    ok(feed_waiting(feed) >= feed_budget(feed), "three of these are all of it");
    feed_queued(feed, 2, 500);
    feed_queued(feed, 3, 0);
    feed_lost(feed, 1);
    ok(feed_waiting(feed) == 500, "and a lost one's nothing");
    feed_destroy(feed);
    if (plan_make(&plan, &large, NULL) < 0
        || !(feed = feed_create(&plan, 7, 0)))
        bail("no feed");
    ok(feed_budget(feed) == 2 << 20, "two chunks may wait in any case");
    connect_all();
    for (int i = 0; i < 8; i++)
        (void)feed_next(feed, &g, 0.001 * i);
    is_near((double)feed_budget(feed), 0.01 * (8 << 20) / 0.007, 1e5,
            "then what the link carries in 10 ms");
    feed_queued(feed, 0, 2 << 20);
    feed_queued(feed, 1, 2 << 20);
    is_near((double)feed_budget(feed), 0.01 * (4 << 20) / 0.007, 1e5,
            "of which what still waits is no part");
}

/* A node whose queue stands is passed over. */
static void test_queue(void)
{
    struct feed_give g;

    stripes();
    feed_queued(feed, 0, 1 << 20);
    ok(feed_next(feed, &g, 0.2) && g.chunk == 0 && g.node != 0 && g.as_root,
       "a root that does not take its bytes is passed over");
    feed_queued(feed, 0, 0);
    run_until(10);
    ok(feed_is_done(feed) && node[0].given > 0, "until it does");
}

static void test_memory(void)
{
    struct feed *f = NULL;
    long n = 0;

    for (; !f && n < 20; n++) {
        fault_at = n;
        f = feed_create(&plan, 1, 0);
        fault_at = -1;
    }
    ok(f && n > 3, "without memory there is no feed, nor a leak");
    feed_destroy(f);
    feed_destroy(NULL);
}

int main(void)
{
    test_well();
    test_connecting();
    test_hung();
    test_hung_early();
    test_back();
    test_late_word();
    test_slow();
    test_slow_end();
    test_lost();
    test_had();
    test_rail();
    test_one();
    test_lies();
    test_few_chunks();
    test_budget();
    test_queue();
    test_memory();
    feed_destroy(feed);
    return done();
}
