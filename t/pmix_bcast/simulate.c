/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole broadcasts of all kinds, simulated: what the parts do together.  What
 * must hold of each is a law with a name; a law is one assertion.
 */
#include "pmix_bcast/simulate.h"
#include "tap.h"

#define RATE    12.5e6 /* 100 Mbit/s */
#define LATENCY 20e-6
#define MB      1000000u

enum law {
    ALL_FINISH,
    NOT_FASTER,
    SENT_ONCE,
    FEW_DUPLICATES,
    FAST_ENOUGH,
    LARGE_SENT_ONCE,
    LARGE_FEW_DUPLICATES,
    CHAIN_FEW_DUPLICATES,
    DEAD_FINISH,
    DEAD_SENT,
    DEAD_TIME,
    SLOW_FINISH,
    SLOW_TIME,
    SLOW_OTHERS,
    SLOW_DEEP,
    SLOW_STRICT,
    LAWS
};

static struct {
    const char *text;
    unsigned tried, broken;
} law[LAWS] = {
    [ALL_FINISH] = {"all nodes finish", 0, 0},
    [NOT_FASTER] = {"none is faster than its link", 0, 0},
    [SENT_ONCE] = {"home sends at most 1.02 times what it has to give", 0, 0},
    [FEW_DUPLICATES] = {"at most 0.5 % come twice", 0, 0},
    [FAST_ENOUGH] = {"4 MB are at 32 nodes within 1.2 of the limit", 0, 0},
    [LARGE_SENT_ONCE] = {"large chunks: home sends at most 1.02 times", 0, 0},
    [LARGE_FEW_DUPLICATES] = {"large chunks: at most 1 % come twice", 0, 0},
    [CHAIN_FEW_DUPLICATES] = {"and down a chain, mostly its latency, 10 %", 0,
                              0},
    [DEAD_FINISH] = {"nodes die: all others finish", 0, 0},
    [DEAD_SENT] = {"home sends beside that only what the dead had", 0, 0},
    [DEAD_TIME] = {"the others are done within 1.25 of the limit", 0, 0},
    [SLOW_FINISH] = {"a node is slow: all finish", 0, 0},
    [SLOW_TIME] = {"the slow one within 1.1 of its own limit", 0, 0},
    [SLOW_OTHERS] = {"up to 32 nodes: the others within 1.25 of theirs", 0, 0},
    [SLOW_DEEP] = {"more nodes: within 1.6", 0, 0},
    [SLOW_STRICT] = {"strict: before the slow one", 0, 0},
};

static void holds(enum law l,
                  const struct simulation *s,
                  const struct simulated *o,
                  int yes)
{
    law[l].tried++;
    if (yes || law[l].broken++)
        return;
    diag("broken: %s: %u nodes, %u branches, %u chunks, shape %u, strict %d, "
         "way %d, slow %g, dead %u: %.3f of the limit, %.3f the fast ones, "
         "%u unfinished, home %.4f, duplicates %.4f",
         law[l].text, s->plan.nodes, s->plan.branches, s->plan.chunks,
         s->plan.shape, s->strict, (int)s->way, s->slow, s->dead,
         o->seconds * RATE / (double)s->plan.bytes,
         o->fast_seconds * RATE / (double)s->plan.bytes, o->unfinished,
         (double)o->home_bytes / (double)s->plan.bytes,
         (double)o->duplicates / (double)s->plan.bytes / s->plan.nodes);
}

static struct simulated run(const struct simulation *s)
{
    struct simulated o;

    if (simulate(s, &o) < 0)
        bail("no memory");
    return o;
}

/* Strict ones have one tree, as in evenstep bcast. */
static struct simulation make(uint32_t nodes,
                              uint64_t bytes,
                              uint32_t chunk,
                              uint32_t branches,
                              int strict)
{
    struct simulation s = {.rate = RATE,
                           .latency = LATENCY,
                           .per_message = 1e-6,
                           .strict = strict,
                           .random = 7};
    struct plan_wish w = {bytes, nodes, branches, chunk,
                          strict ? PLAN_BRANCHES : PLAN_STRIPES};

    if (plan_make(&s.plan, &w, NULL) < 0)
        bail("no plan");
    return s;
}

/* As often as home must send the data: once, but to each branch a chunk. */
static double to_give(const struct plan *p)
{
    return plan_gives(p) > p->chunks ? (double)plan_gives(p) * p->chunk
                                     : (double)p->bytes;
}

static double limit(const struct simulation *s)
{
    return (double)s->plan.bytes / s->rate;
}

static int is_few(const struct simulation *s,
                  const struct simulated *o,
                  double share)
{
    return (double)o->duplicates
           <= share * (double)s->plan.bytes * s->plan.nodes;
}

static void try_well(const struct simulation *s)
{
    struct simulated o = run(s);
    int large = s->plan.shape == PLAN_STRIPES
                && s->plan.bytes < 20u * s->plan.branches * s->plan.chunk;
    int once = (double)o.home_bytes <= 1.02 * to_give(&s->plan);

    holds(ALL_FINISH, s, &o, o.unfinished == 0);
    holds(NOT_FASTER, s, &o, o.seconds >= limit(s) && o.home_bytes > 0);
    holds(large ? LARGE_SENT_ONCE : SENT_ONCE, s, &o, once);
    if (large && s->plan.branches == 1)
        holds(CHAIN_FEW_DUPLICATES, s, &o, is_few(s, &o, 0.1));
    else
        holds(large ? LARGE_FEW_DUPLICATES : FEW_DUPLICATES, s, &o,
              is_few(s, &o, large ? 0.01 : 0.005));
    if (s->plan.bytes == 4 * MB && !large && !s->strict && s->plan.nodes <= 32
        && s->plan.branches == s->plan.nodes)
        holds(FAST_ENOUGH, s, &o, o.seconds <= 1.2 * limit(s));
}

static void test_well(void)
{
    static const uint32_t nodes[] = {1, 2, 3, 5, 8, 16, 24, 32, 33, 64};
    static const uint32_t bytes[] = {1, 1000, 65536, MB, 4 * MB};
    static const uint32_t chunks[] = {0, 4096, 65536};
    static const uint32_t branches[] = {0, 1, 3};

    for (size_t n = 0; n < sizeof nodes / sizeof nodes[0]; n++)
        for (size_t b = 0; b < sizeof bytes / sizeof bytes[0]; b++)
            for (size_t i = 0; i < 9; i++)
                for (int strict = 0; strict <= 1; strict++) {
                    struct simulation s =
                        make(nodes[n], bytes[b], chunks[i % 3], branches[i / 3],
                             strict);

                    try_well(&s);
                    s.way = PULL_BY_CHUNK;
                    if (strict)
                        try_well(&s);
                    s.way = PULL_BY_NODE;
                    if (strict)
                        try_well(&s);
                }
}

static void test_faults(void)
{
    static const uint32_t nodes[] = {4, 8, 16, 32, 33, 64};

    for (size_t n = 0; n < sizeof nodes / sizeof nodes[0]; n++)
        for (unsigned i = 0; i < 8; i++) {
            int strict = i % 2;
            struct simulation s =
                make(nodes[n], 4 * MB, strict ? 32768 : 0, 0, strict);
            struct simulated o;

            s.way = (enum pull_way)(i / 2 % 3);
            s.random = 100 + i;
            s.dead = 1 + i / 4;
            o = run(&s);
            holds(DEAD_FINISH, &s, &o, o.unfinished == 0 && o.seconds > 0);
            holds(DEAD_SENT, &s, &o,
                  (double)o.home_bytes
                      <= 1.02 * to_give(&s.plan) + 9.0 * s.dead * s.plan.chunk);
            if (!strict)
                holds(DEAD_TIME, &s, &o, o.seconds <= 1.25 * limit(&s));
            s.dead = 0;
            s.slow = 1e-6; /* one */
            o = run(&s);
            holds(SLOW_FINISH, &s, &o, o.unfinished == 0);
            if (!strict)
                holds(SLOW_TIME, &s, &o, o.seconds <= 4.4 * limit(&s));
            holds(strict              ? SLOW_STRICT
                  : s.plan.nodes > 32 ? SLOW_DEEP
                                      : SLOW_OTHERS,
                  &s, &o,
                  strict ? o.fast_seconds < o.seconds
                         : o.fast_seconds
                               <= (s.plan.nodes > 32 ? 1.6 : 1.25) * limit(&s));
        }
}

static void test_edges(void)
{
    struct simulation s = make(8, MB, 0, 0, 0);
    struct simulated o;

    s.dead = 8;
    o = run(&s);
    ok(o.unfinished == 0 && o.seconds <= 0, "all die: nobody is waited for");
    s.dead = UINT32_MAX;
    o = run(&s);
    is_int(o.unfinished, 0, "more cannot die than there are");
    s.dead = 0;
    s.slow = 1;
    o = run(&s);
    ok(o.unfinished == 0 && o.seconds >= 4 * limit(&s) && o.fast_seconds <= 0,
       "all are slow: all finish, at a quarter of the rate");
    s = make(8, 0, 0, 0, 0);
    o = run(&s);
    ok(o.unfinished == 0 && o.seconds <= 0 && o.home_bytes == 0,
       "of no bytes all have all at once");
}

static void test_same(void)
{
    struct simulation s = make(24, MB, 8192, 0, 1);
    struct simulated a, b;

    s.way = PULL_BY_CHUNK; /* which draws, and is refused now and then */
    s.slow = 0.1;
    a = run(&s);
    b = run(&s);
    ok(a.pulls > a.refused && a.refused > 0 && a.pulls == b.pulls
           && a.refused == b.refused && a.events == b.events
           && a.home_bytes == b.home_bytes && a.duplicates == b.duplicates
           && memcmp(&a.seconds, &b.seconds, sizeof a.seconds) == 0,
       "the same seed gives the same run");
    s.random = 8;
    b = run(&s);
    ok(a.events != b.events, "another another one");
}

/* One chunk for one node: both ends' first looks, the link is free, the chunk
 * is there. */
static void test_one_chunk(void)
{
    struct simulation s = make(1, 4096, 4096, 1, 0);
    struct simulated o = run(&s);

    is_int((intmax_t)o.events, 5, "each event is counted");
    ok(o.home_bytes == 4096 && o.unfinished == 0, "and each byte");
    is_near(o.seconds, LATENCY + 2e-6 + 4096 / RATE, 1e-9,
            "a chunk takes its bytes' time, the latency, and two messages'");
}

int main(void)
{
    test_well();
    test_faults();
    for (int l = 0; l < LAWS; l++) {
        ok(law[l].tried > 0 && law[l].broken == 0, "%s (%u times)", law[l].text,
           law[l].tried);
    }
    test_edges();
    test_same();
    test_one_chunk();
    return done();
}
