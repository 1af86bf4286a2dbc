/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node of a broadcast; the test is home and all other nodes.  Chunks
 * have numbers that tell their root: with as many branches as nodes it is the
 * chunk modulo the nodes.
 */
#include "pmix_bcast/relay.h"
#include "fault.h"
#include "tap.h"

#define NODES 6u
#define MOST  12u /* nodes, in a test of its own */
#define SELF  2u
#define HOME  PLAN_NOBODY
#define SLOT  0.001

static struct plan plan;
static struct relay *relay;
static unsigned woken[MOST + 1]; /* home is the last */
static struct relay_item item;

static void on_wake(void *arg, uint32_t peer)
{
    (void)arg;
    woken[peer == HOME ? MOST : peer]++;
}

static double slot = SLOT; /* what is known before the first chunk */

static void create(enum plan_shape shape,
                   uint32_t nodes,
                   uint32_t branches,
                   uint32_t chunks,
                   int strict)
{
    struct plan_wish w = {(uint64_t)chunks * CHUNK_MIN, nodes, branches,
                          CHUNK_MIN, shape};
    struct relay_setup s = {.plan = &plan,
                            .self = nodes > SELF ? SELF : 0,
                            .way = PULL_BY_NODE,
                            .strict = strict,
                            .slot = slot,
                            .random = 7,
                            .wake = on_wake};

    relay_destroy(relay);
    memset(woken, 0, sizeof woken);
    if (plan_make(&plan, &w, NULL) < 0 || plan.chunks != chunks)
        bail("no plan");
    relay = relay_create(&s);
    if (!relay)
        bail("no relay");
}

/* All nodes are neighbours: a stripe of root and leaves for each. */
static void mesh(uint32_t chunks)
{
    create(PLAN_STRIPES, NODES, NODES, chunks, 0);
}

/* Say to peer all that there is, chunks as if the link took them at once. */
static unsigned say_all(uint32_t peer, double now)
{
    unsigned n = 0;

    while (n < 1000 && relay_next(relay, peer, &item)) {
        n++;
        if (item.kind == RELAY_CHUNK)
            relay_sent(relay, peer, item.chunk, now);
    }
    return n;
}

static int says(uint32_t peer, enum relay_kind kind, uint32_t chunk)
{
    int is = relay_next(relay, peer, &item) && item.kind == kind
             && item.chunk == chunk;

    if (is && kind == RELAY_CHUNK)
        relay_sent(relay, peer, chunk, 0);
    return is;
}

static int is_silent(uint32_t peer)
{
    return !relay_next(relay, peer, &item);
}

static int all_silent(void)
{
    int silent = is_silent(HOME);

    for (uint32_t v = 0; v < plan.nodes; v++)
        silent &= is_silent(v);
    return silent;
}

/* --- what is pushed ------------------------------------------------------- */

static void test_push(void)
{
    int woke = 1, order = 1;

    mesh(30);
    ok(all_silent(), "at first there is nothing to say");
    relay_got(relay, HOME, 2, 0, 0);
    for (uint32_t v = 0; v < NODES; v++)
        woke &= woken[v] == (v != SELF);
    ok(woke && woken[MOST] == 0, "a chunk from home wakes its children, once");
    relay_got(relay, HOME, 14, 0, 0);
    relay_got(relay, HOME, 8, 0, 0);
    for (uint32_t v = 0; v < NODES; v++)
        if (v != SELF)
            order &= says(v, RELAY_CHUNK, 2) && says(v, RELAY_CHUNK, 14)
                     && says(v, RELAY_CHUNK, 8) && is_silent(v);
    ok(order, "each child gets each chunk once, in the order they came");
    relay_got(relay, HOME, 20, 0, 0);
    for (uint32_t v = 0; v < NODES; v++)
        woke &= woken[v] == 2u * (v != SELF);
    ok(woke, "who has said that it has nothing is woken again");
    ok(relay_missing(relay) == 26 && relay_holds(relay, 14)
           && !relay_holds(relay, 15) && !relay_wants(relay, 14)
           && relay_wants(relay, 15) && !relay_wants(relay, 30),
       "it holds what came, wants what did not, and nothing else");
}

static void test_leaf(void)
{
    mesh(30);
    relay_got(relay, 0, 6, 0, 0.1);
    ok(all_silent() && relay_holds(relay, 6),
       "a leaf passes nothing on, and does not bother home");
    create(PLAN_STRIPES, NODES, 1, 4, 0);
    relay_got(relay, 1, 0, 0, 0.1);
    ok(says(3, RELAY_CHUNK, 0) && all_silent(),
       "in a chain the next one gets it");
    create(PLAN_STRIPES, 1, 1, 4, 0);
    relay_got(relay, HOME, 0, 0, 0.1);
    ok(says(HOME, RELAY_RELAYED, 0),
       "with nobody to pass it on to home is told at once");
}

/* Home is told when half of the copies are gone, of an emergency one. */
static void test_relayed(void)
{
    mesh(30);
    relay_got(relay, HOME, 2, 0, 0);
    ok(says(0, RELAY_CHUNK, 2) && says(1, RELAY_CHUNK, 2) && is_silent(HOME),
       "2 of 5 copies are not yet relayed");
    ok(says(5, RELAY_CHUNK, 2) && says(HOME, RELAY_RELAYED, 2), "3 are");
    say_all(3, 0);
    say_all(4, 0);
    ok(all_silent(), "and that is said once");
    relay_got(relay, HOME, 3, 1, 0);
    ok(says(3, RELAY_CANCEL, 3) && says(3, RELAY_CHUNK, 3),
       "in the root's place: the root need not send it, but gets it");
    ok(says(HOME, RELAY_RELAYED, 3), "and one copy is enough");
    ok(says(0, RELAY_CHUNK, 3) && says(1, RELAY_CHUNK, 3)
           && says(4, RELAY_CHUNK, 3) && says(5, RELAY_CHUNK, 3)
           && all_silent(),
       "so do the root's other children");
}

/* In a deeper tree, too: the root's children, and its own. */
static void test_as_root(void)
{
    unsigned to[NODES] = {0};
    int right = 1;

    create(PLAN_STRIPES, 6, 2, 12, 0);
    relay_got(relay, HOME, 1, 1, 0); /* of the tree whose root is 1 */
    for (uint32_t v = 0; v < NODES; v++)
        while (relay_next(relay, v, &item)) {
            to[v] += item.kind == RELAY_CHUNK;
            relay_sent(relay, v, item.chunk, 0);
        }
    for (uint32_t v = 0; v < NODES; v++) {
        uint32_t parent = plan_parent(&plan, v, 1);

        right &=
            to[v] == (v != SELF && (v == 1 || parent == 1 || parent == SELF));
    }
    ok(right, "who takes a root's place serves it, its children and its own");
}

static void test_twice(void)
{
    mesh(30);
    relay_got(relay, HOME, 2, 0, 0);
    relay_got(relay, HOME, 2, 0, 0.1);
    relay_got(relay, 4, 2, 0, 0.2);
    ok(says(0, RELAY_CHUNK, 2) && is_silent(0) && relay_missing(relay) == 29,
       "what comes again is passed on once");
    mesh(30);
    relay_got(relay, HOME, 3, 1, 0);
    relay_got(relay, HOME, 3, 1, 0.1);
    ok(says(0, RELAY_CHUNK, 3) && is_silent(0),
       "also in the place of its root");
    mesh(30);
    relay_got(relay, 4, 2, 0, 0.2);
    relay_got(relay, HOME, 2, 0, 0.3);
    ok(is_silent(0) && is_silent(1) && is_silent(3),
       "a root that was replaced passes nothing on");
}

static void test_many_relayed(void)
{
    unsigned said = 0;

    create(PLAN_STRIPES, 1, 1, 100, 0);
    for (uint32_t j = 0; j < 100; j++)
        relay_got(relay, HOME, j, 0, 0.1);
    while (relay_next(relay, HOME, &item))
        said += item.kind == RELAY_RELAYED;
    is_int(said, 100, "home hears of every chunk, however late it listens");
}

/* --- what is asked for ---------------------------------------------------- */

static void test_asked(void)
{
    int served = 1;

    mesh(60);
    for (uint32_t j = 0; j < 60; j += 6)
        relay_got(relay, 0, j, 0, 0.1);
    relay_asked(relay, 4, 0);
    relay_asked(relay, 4, 18);
    relay_asked(relay, 4, 1);
    ok(says(4, RELAY_ABSENT, 1),
       "what is not here is refused, before all else");
    ok(says(4, RELAY_CHUNK, 0) && says(4, RELAY_CHUNK, 18) && is_silent(4),
       "what is here is sent, in turn, to who asked");
    relay_asked(relay, 4, 60);
    ok(relay_next(relay, 4, &item) && item.kind == RELAY_ABSENT,
       "what there never is, is refused");
    relay_asked(relay, 4, 6);
    relay_cancelled(relay, 4, 6);
    ok(is_silent(4), "an answer that is cancelled is not sent");
    relay_cancelled(relay, 4, 6);
    relay_asked(relay, 4, 6);
    ok(says(4, RELAY_CHUNK, 6), "a cancel of before counts no more");
    for (int i = 0; i < 1000; i++)
        relay_asked(relay, 3, 12);
    ok(say_all(3, 0) < 100, "a thousand pulls are not all remembered");
    relay_got(relay, HOME, 2, 0, 0.2);
    relay_asked(relay, 5, 12);
    served = says(5, RELAY_CHUNK, 2) && says(5, RELAY_CHUNK, 12);
    ok(served, "what is pushed goes before what is pulled");
}

static void test_cancel(void)
{
    mesh(30);
    relay_got(relay, HOME, 2, 0, 0);
    relay_got(relay, HOME, 8, 0, 0);
    relay_cancelled(relay, 0, 2);
    relay_cancelled(relay, 1, 2);
    ok(says(0, RELAY_CHUNK, 8) && is_silent(0),
       "a cancelled chunk is not pushed, the next one is");
    ok(says(3, RELAY_CHUNK, 2) && is_silent(HOME), "the others get it");
    ok(says(1, RELAY_CHUNK, 8) && says(HOME, RELAY_RELAYED, 2),
       "a copy that is not needed counts as sent");
}

/* A chunk that comes another way: whoever else would send it is told. */
static void test_cancels(void)
{
    create(PLAN_STRIPES, 6, 2, 12, 0);
    relay_got(relay, 5, 0, 0, 0.1); /* its parent is another */
    ok(plan_parent(&plan, SELF, 0) == 0 && says(0, RELAY_CANCEL, 0),
       "the parent need not send what came from another");
    ok(plan_children(&plan, SELF, 0) > 0
           && says(plan_child(&plan, SELF, 0, 0), RELAY_CHUNK, 0),
       "and the children get it none the less");
}

/* --- what was there before ------------------------------------------------- */

static void test_had(void)
{
    int all = 1;

    mesh(30);
    relay_expects(relay, 0, 12);
    ok(relay_wants(relay, 2) && !relay_holds(relay, 2) && all_silent(),
       "what it had it holds once that is read");
    relay_has(relay, 2, 0.1);
    relay_has(relay, 3, 0.1);
    for (uint32_t v = 0; v < NODES; v++)
        if (v != SELF)
            all &= says(v, RELAY_CHUNK, 2) && is_silent(v);
    ok(all && says(HOME, RELAY_RELAYED, 2) && is_silent(HOME),
       "it goes to its children as if home had sent it");
    is_int(relay_missing(relay), 28, "and is not missing");
    relay_got(relay, 4, 8, 0, 0.2);
    ok(relay_holds(relay, 8) && says(0, RELAY_CHUNK, 8) == 0,
       "one that a peer sends all the same is kept");
}

static void test_peer_had(void)
{
    mesh(30);
    relay_got(relay, HOME, 2, 0, 0);
    relay_peer_has(relay, 4, 0, 12);
    relay_got(relay, HOME, 8, 0, 0);
    relay_got(relay, HOME, 14, 0, 0);
    ok(says(4, RELAY_CHUNK, 14) && is_silent(4),
       "what a peer had is not pushed to it, whenever it says so");
    ok(says(0, RELAY_CHUNK, 2) && says(0, RELAY_CHUNK, 8), "others get it");
    for (uint32_t v = 0; v < NODES; v++)
        if (v != SELF && v != 0)
            relay_peer_has(relay, v, 0, 30);
    ok(is_silent(1) && is_silent(3) && says(HOME, RELAY_RELAYED, 2)
           && says(HOME, RELAY_RELAYED, 8),
       "a copy that is not needed counts as sent");
    ok(relay_serves(relay, 0, 14) && !relay_serves(relay, 4, 14)
           && !relay_serves(relay, 0, 15),
       "which chunks a peer is served is known");
    ok(relay_is_idle(relay, 1), "there is nothing for one that had all");
    (void)says(HOME, RELAY_RELAYED, 14);
    relay_got(relay, HOME, 3, 1, 0);
    ok(says(3, RELAY_CANCEL, 3) && is_silent(3) && says(0, RELAY_CHUNK, 14)
           && says(0, RELAY_CHUNK, 3) && says(HOME, RELAY_RELAYED, 3),
       "in the place of a root that had it: it goes to those who lack it");
}

/* --- what it asks for ----------------------------------------------------- */

struct asked {
    unsigned pulls, from[NODES + 1], of[NODES];
    uint32_t node, chunk; /* the last */
};

/* Tick until now, and hear what is asked. */
static struct asked tick(double now)
{
    struct asked a = {0};

    relay_tick(relay, now);
    for (uint32_t v = 0; v <= NODES; v++)
        while (relay_next(relay, v < NODES ? v : HOME, &item))
            if (item.kind == RELAY_PULL) {
                a.pulls++;
                a.from[v]++;
                a.of[item.chunk % NODES]++;
                a.node = v;
                a.chunk = item.chunk;
            }
    return a;
}

/* Chunks come on their way at SLOT each, but those of root 0. */
static void some_come(double start)
{
    for (uint32_t j = 0; j < 120; j++)
        if (j % NODES != 0)
            relay_got(relay, j % NODES == SELF ? HOME : j % NODES, j, 0,
                      start + SLOT * (double)plan_slots(&plan, SELF, j));
}

static void half_way(void)
{
    mesh(240);
    some_come(0);
}

static void test_repair(void)
{
    struct asked a;
    unsigned pulls = 0, parent = 0, others = 0;

    mesh(240);
    for (int t = 0; t < 20; t++)
        pulls += tick(0.002 * t).pulls;
    is_int(pulls, 0, "nothing is asked for before something is late");
    half_way();
    for (int t = 0; t < 20; t++) {
        a = tick(0.2 + 0.002 * t);
        pulls += a.pulls;
        parent += a.of[0] && a.from[0];
        for (uint32_t v = 1; v < NODES; v++)
            others += a.of[v];
        if (t == 0)
            ok(a.pulls > 0 && a.pulls <= 8, "what is late is asked for");
    }
    is_int(pulls, 8, "8 at once and no more");
    is_int(parent, 0, "never of the one that should have pushed it");
    is_int(others, 0, "the first ones first");
}

/* On a kernel with coarse timers, or a full CPU, every tick comes late. */
static void test_late_ticks(void)
{
    unsigned early = 0, pulls = 0;

    mesh(240);
    for (uint32_t j = 0; j < 60; j++) /* then nothing more comes */
        relay_got(relay, j % NODES == SELF ? HOME : j % NODES, j, 0,
                  SLOT * (double)plan_slots(&plan, SELF, j));
    for (int t = 0; t < 4; t++)
        early += tick(0.05 + 0.03 * t).pulls;
    for (int t = 0; t < 100; t++)
        pulls += tick(0.2 + 0.03 * t).pulls;
    is_int(early, 0, "while ticks are late no link is taken for idle");
    ok(pulls > 0, "but what is missing is asked for in the end");
}

/* Nobody could reach us. */
static void test_nothing_comes(void)
{
    unsigned early = 0, pulls = 0, of_home = 0;
    struct asked a;

    slot = 0;
    mesh(240);
    slot = SLOT;
    for (int t = 0; t < 900; t++)
        early += tick(0.002 * t).pulls;
    for (int t = 0; t < 5000; t++) {
        a = tick(2.1 + 0.002 * t);
        pulls += a.pulls;
        of_home += a.from[NODES];
        for (uint32_t v = 0; v < NODES; v++)
            for (uint32_t j = 0; j < 240; j++)
                relay_absent(relay, v, j, 2.1 + 0.002 * t);
    }
    is_int(early, 0, "home may take its time before the first chunk");
    ok(pulls > 0 && of_home > 0,
       "but if none ever comes the others are asked, and then home");
}

/* The first chunks came late, as who sends them began late: that tells too long a
 * time for all others. */
static void test_late_first(void)
{
    unsigned early = 0, pulls = 0;

    slot = 0;
    mesh(18);
    slot = SLOT;
    for (uint32_t j = 0; j < 12; j++)
        if (j % NODES != 0)
            relay_got(relay, j % NODES == SELF ? HOME : j % NODES, j, 0, 3);
    relay_lost(relay, 0);
    for (int t = 0; t < 900; t++)
        early += tick(3 + 0.002 * t).pulls;
    for (int t = 0; t < 150; t++)
        pulls += tick(5 + 0.002 * t).pulls;
    is_int(early, 0, "who sends late is waited for");
    ok(pulls > 0, "but when nothing has come for 2 s others are asked");
}

/* Peers are called late, as we had something else to wait for. */
static void test_begin(void)
{
    unsigned early = 0, pulls = 0;

    slot = 0;
    mesh(240);
    slot = SLOT;
    for (int t = 0; t < 900; t++)
        early += tick(0.002 * t).pulls;
    relay_begin(relay, 3);
    for (int t = 0; t < 20; t++)
        early += tick(3 + 0.002 * t).pulls;
    some_come(3);
    for (int t = 0; t < 20; t++)
        pulls += tick(3.2 + 0.002 * t).pulls;
    is_int(early, 0, "as long as peers are not called none of them is late");
    ok(pulls > 0, "and then they are as soon as if that was at first");
    relay_begin(relay, 13);
    for (int t = 0; t < 200; t++)
        pulls += tick(4 + 0.002 * t).pulls;
    ok(pulls > 8,
       "a chunk that came tells when they began, not who calls late");
}

/* The nodes that are asked in some time, with no answers. */
static void test_suspect(void)
{
    struct asked a;
    unsigned again = 0, trusted = 0, first[NODES + 1] = {0};
    unsigned last[NODES] = {0};

    half_way();
    for (int t = 0; t < 20; t++) {
        a = tick(0.2 + 0.002 * t);
        for (uint32_t v = 0; v < NODES; v++)
            first[v] += a.from[v];
    }
    for (int t = 0; t < 100; t++) { /* past their deadlines */
        a = tick(0.3 + 0.002 * t);
        for (uint32_t v = 0; v < NODES; v++) {
            again += first[v] ? a.from[v] : 0;
            first[v] += a.from[v];
        }
    }
    is_int(again, 0, "who left a pull without an answer is not asked again");
    relay_cancelled(relay, 4, 1);
    relay_asked(relay, 4, 7);
    for (int t = 0; t < 200; t++)
        trusted += tick(1 + 0.002 * t).from[4];
    ok(trusted > 0, "until it says anything");
    for (int t = 0; t < 1000; t++) {
        a = tick(1.4 + 0.002 * t);
        for (uint32_t v = 0; v < NODES; v++)
            last[v] += a.from[v];
    }
    ok(last[1] > 0 && last[3] > 0 && last[5] > 0,
       "or nobody else is left: then all are");
}

static void test_absent(void)
{
    struct asked a = {0};
    uint32_t chunk, asked_home = 0;
    int t = 0;

    half_way();
    while (a.pulls == 0 && t++ < 100)
        a = tick(0.2 + 0.002 * t);
    chunk = a.chunk;
    for (t = 0; t < 2000 && !asked_home; t++) {
        for (uint32_t v = 0; v < NODES; v++)
            for (uint32_t j = 0; j < 240; j += NODES)
                relay_absent(relay, v, j, 0.4 + 0.002 * t);
        a = tick(0.4 + 0.002 * t);
        asked_home = a.from[NODES];
    }
    ok(a.pulls > 0 && chunk % NODES == 0 && asked_home > 0,
       "when all have refused home is asked");
    half_way();
    while ((a = tick(0.2 + 0.002 * ++t)).pulls == 0 && t < 4000)
        ;
    relay_got(relay, 5, a.chunk, 0, 1);
    ok(relay_holds(relay, a.chunk), "what is asked for may come from anybody");
    ok(a.node == 5 || says(a.node, RELAY_CANCEL, a.chunk),
       "and who was asked need not send it");
}

/* --- losses --------------------------------------------------------------- */

/* By several connections at once: next, next, sent, sent. */
static void test_rails(void)
{
    int next = 1;

    mesh(30);
    relay_got(relay, HOME, 2, 0, 0);
    relay_got(relay, HOME, 8, 0, 0);
    for (uint32_t v = 0; v < NODES; v++)
        if (v != SELF) {
            next &= relay_next(relay, v, &item) && item.chunk == 2;
            next &= relay_next(relay, v, &item) && item.chunk == 8;
        }
    ok(next, "a peer's next chunk is given out before its last is sent");
    for (uint32_t v = 0; v < NODES - 2; v++) {
        relay_sent(relay, v, 8, 0);
        relay_sent(relay, v, 2, 0);
    }
    ok(says(HOME, RELAY_RELAYED, 8) && says(HOME, RELAY_RELAYED, 2),
       "and each counts when it is sent, in any order");
    relay_got(relay, HOME, 14, 0, 0);
    ok(relay_next(relay, 0, &item) && item.chunk == 14, "one is on its way");
    relay_unsent(relay, 0, 14, 0);
    ok(says(0, RELAY_CHUNK, 14) && is_silent(0),
       "what a broken connection took goes by another, once");
}

static void test_lost(void)
{
    struct asked a;
    unsigned asked = 0, other = 0;

    mesh(30);
    relay_got(relay, HOME, 2, 0, 0);
    relay_next(relay, 0, &item);
    relay_lost(relay, 0);
    relay_lost(relay, 1);
    ok(is_silent(0) && is_silent(1), "who is lost is sent nothing");
    relay_lost(relay, 3);
    ok(says(HOME, RELAY_RELAYED, 2) && says(4, RELAY_CHUNK, 2)
           && says(5, RELAY_CHUNK, 2),
       "its copies count as gone, and the others get theirs");
    relay_got(relay, HOME, 8, 0, 0);
    ok(is_silent(0) && says(4, RELAY_CHUNK, 8) && says(HOME, RELAY_RELAYED, 8),
       "the next chunk is only for those who are there");
    relay_lost(relay, 0);
    relay_lost(relay, HOME);
    relay_lost(relay, HOME);
    ok(says(5, RELAY_CHUNK, 8), "losses that are told twice, or home's, are "
                                "borne");
    half_way();
    for (uint32_t v = 0; v < NODES; v++)
        if (v != SELF && v != 4)
            relay_lost(relay, v);
    for (int t = 0; t < 200; t++) {
        a = tick(0.2 + 0.002 * t);
        asked += a.from[4];
        other += a.pulls - a.from[4];
    }
    ok(asked > 0 && other == 0, "only who is there is asked");
}

/* What was passed on to a node that has gone since is nowhere but at home. */
static void test_alone(void)
{
    static const enum plan_shape shape[] = {PLAN_STRIPES, PLAN_BRANCHES};
    struct asked a;

    for (int i = 0; i < 2; i++) {
        unsigned asked = 0, other = 0;

        create(shape[i], 2, 2, 30, i == 1);
        for (uint32_t j = 0; j < 30; j += 2)
            relay_got(relay, HOME, j, 0, 0.001 * j);
        relay_lost(relay, 1);
        for (int t = 0; t < 400; t++) {
            a = tick(0.2 + 0.002 * t);
            asked += a.from[NODES];
            other += a.pulls - a.from[NODES];
        }
        ok(asked > 0 && other == 0, "who is alone asks home: %s",
           shape[i] == PLAN_STRIPES ? "stripes" : "branches, strict");
    }
}

/* Chunks come, but in a lost root's place: they say nothing of the time. */
static void test_no_tree(void)
{
    unsigned asked = 0;

    slot = 0;
    create(PLAN_BRANCHES, 4, 2, 30, 0); /* self: a child of 0 */
    slot = SLOT;
    relay_lost(relay, 0);
    for (uint32_t j = 0; j < 30; j += 2)
        relay_got(relay, 3, j, 1, 0.001 * j);
    for (int t = 0; t < 2000; t++)
        asked += tick(0.002 * t).pulls;
    ok(asked > 0, "without its parent, too, a node asks for the rest");
}

/* A peer whose connection broke, and that calls again. */
static void test_back(void)
{
    unsigned n;

    mesh(30);
    for (uint32_t j = 2; j < 30; j += 6)
        relay_got(relay, HOME, j, 0, 0);
    say_all(4, 0);
    relay_lost(relay, 4);
    relay_asked(relay, 4, 2);
    n = say_all(4, 0);
    is_int(n, 1, "who comes back is sent what it asks for, and no more");
}

/* --- strict --------------------------------------------------------------- */

/* 3 branches of 3 children each; self is the root of branch 2. */
static void test_strict(void)
{
    unsigned pulls = 0;

    create(PLAN_BRANCHES, MOST, 3, 3, 1);
    relay_got(relay, HOME, 2, 0, 0.1);
    memset(woken, 0, sizeof woken);
    relay_asked(relay, 1, 2);
    relay_tick(relay, 0.2);
    ok(is_silent(1), "strict: no answer while there are children to serve");
    ok(says(5, RELAY_CHUNK, 2) && says(8, RELAY_CHUNK, 2) && is_silent(1)
           && is_silent(0),
       "nor is anything asked for");
    memset(woken, 0, sizeof woken);
    ok(says(11, RELAY_CHUNK, 2) && woken[1] > 0,
       "with the last child served who waits is woken");
    relay_tick(relay, 0.3);
    for (uint32_t v = 0; v < MOST; v++)
        while (relay_next(relay, v, &item))
            pulls += item.kind == RELAY_PULL;
    ok(pulls > 0 && pulls <= 2, "and what is missing asked for, two at once");
}

static void test_strict_answer(void)
{
    create(PLAN_BRANCHES, MOST, 3, 3, 1);
    relay_got(relay, HOME, 2, 0, 0);
    relay_asked(relay, 1, 2);
    relay_lost(relay, 5);
    relay_lost(relay, 8);
    ok(is_silent(1) && says(11, RELAY_CHUNK, 2) && says(1, RELAY_CHUNK, 2),
       "strict: lost children need not be served");
    create(PLAN_BRANCHES, MOST, 3, 3, 0);
    relay_got(relay, HOME, 2, 0, 0);
    relay_asked(relay, 1, 2);
    ok(says(1, RELAY_CHUNK, 2), "not strict: answers need not wait");
    create(PLAN_BRANCHES, MOST, 3, 6, 1);
    relay_got(relay, HOME, 2, 0, 0);
    say_all(5, 0);
    say_all(8, 0);
    say_all(11, 0);
    relay_asked(relay, 1, 2);
    ok(is_silent(1), "strict: not served either before all chunks have come");
    woken[1] = 0;
    relay_lost(relay, 4);
    ok(woken[1] > 0 && says(1, RELAY_CHUNK, 2),
       "but when somebody is lost they may never come");
}

static void test_memory(void)
{
    struct relay_setup s = {.plan = &plan, .random = 1, .wake = on_wake};
    struct relay *r = NULL;
    long n = 0;

    for (; !r && n < 20; n++) {
        fault_at = n;
        r = relay_create(&s);
        fault_at = -1;
    }
    ok(r && n > 3, "without memory there is no relay, nor a leak");
    relay_destroy(r);
    relay_destroy(NULL);
}

int main(void)
{
    test_push();
    test_leaf();
    test_relayed();
    test_as_root();
    test_twice();
    test_many_relayed();
    test_asked();
    test_cancel();
    test_cancels();
    test_had();
    test_peer_had();
    test_repair();
    test_late_ticks();
    test_nothing_comes();
    test_late_first();
    test_begin();
    test_suspect();
    test_absent();
    test_rails();
    test_lost();
    test_alone();
    test_no_tree();
    test_back();
    test_strict();
    test_strict_answer();
    test_memory();
    relay_destroy(relay);
    return done();
}
