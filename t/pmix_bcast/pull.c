/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every choice is checked against all that could be chosen; the generator has
 * fixed seeds, so what is counted is the same each time.
 */
#include "pmix_bcast/pull.h"
#include "tap.h"

#define NODES  42u
#define CHUNKS 60u
#define START  10.0
#define SLOT   1.0
#define LATER  (START + 1e6) /* everybody has everything that is pushed */

static struct plan plan;
static struct estimator estimator;
static uint8_t hold[CHUNKS], presence[NODES];
static uint64_t seed;
static struct pull_view view;
static const char *const way_name[] = {"by turn", "by chunk", "by node"};

static void fresh(enum plan_shape shape, uint32_t branches, uint32_t self)
{
    struct plan_wish w = {CHUNKS * CHUNK_MIN, NODES, branches, CHUNK_MIN,
                          shape};

    if (plan_make(&plan, &w, NULL) < 0 || plan.chunks != CHUNKS)
        bail("no plan");
    estimator_init(&estimator, &plan, START, SLOT);
    memset(hold, CHUNK_MISSING, sizeof hold);
    memset(presence, PRESENT, sizeof presence);
    seed = 42;
    view = (struct pull_view){.plan = &plan,
                              .estimator = &estimator,
                              .hold = hold,
                              .presence = presence,
                              .self = self,
                              .now = LATER,
                              .random = &seed};
}

/* Should self ask node for the chunk now? */
static int is_possible(uint32_t node, uint32_t chunk)
{
    return node < plan.nodes && chunk < plan.chunks && node != view.self
           && presence[node] == PRESENT && hold[chunk] == CHUNK_MISSING
           && plan_is_pushed(&plan, node, chunk)
           && estimator_holds(&estimator, node, chunk, view.now);
}

static unsigned possible(void)
{
    unsigned n = 0;

    for (uint32_t v = 0; v < plan.nodes; v++)
        for (uint32_t j = 0; j < plan.chunks; j++)
            n += (unsigned)(is_possible(v, j)
                            && !plan_is_pushed(&plan, view.self, j));
    return n;
}

/* xorshift64* that begins at 1, as other implementations have it. */
static void test_generator(void)
{
    static const uint64_t want[] = {
        UINT64_C(5180492295206395165), UINT64_C(12380297144915551517),
        UINT64_C(13389498078930870103), UINT64_C(5599127315341312413)};
    uint64_t state = 1;
    int wrong = 0;

    for (size_t i = 0; i < 4; i++)
        wrong += pull_random(&state) != want[i];
    is_int(wrong, 0, "the generator is xorshift64*");
}

/* At many times, with ever more that is held, asked for, and gone. */
static void test_possible(enum pull_way way)
{
    unsigned impossible = 0, pushed = 0, chosen = 0, missed = 0, tried = 0;

    fresh(PLAN_BRANCHES, 6, 9);
    for (int i = 0; i < 4000; i++) {
        struct pull p = {UINT32_MAX, UINT32_MAX};
        int yes;

        view.now = START + SLOT * (double)(pull_random(&seed) % 150);
        hold[pull_random(&seed) % CHUNKS] = (uint8_t)(i % 3);
        presence[pull_random(&seed) % NODES] = i % 5 ? PRESENT : SUSPECT;
        yes = pull_choose(&p, &view, way);
        chosen += (unsigned)yes;
        tried += possible() > 0;
        missed += !yes && possible() > 0;
        if (yes) {
            impossible += !is_possible(p.node, p.chunk);
            pushed += (unsigned)plan_is_pushed(&plan, view.self, p.chunk);
        }
    }
    ok(chosen > 2000 && impossible == 0, "%s: of %u choices none is impossible",
       way_name[way], chosen);
    is_int(pushed, 0, "none of what is pushed anyway");
    ok(missed * 10 < tried,
       "there is one nearly always if there can be: %u of "
       "%u missed",
       missed, tried);
}

static void test_none(enum pull_way way)
{
    struct pull p;
    int any = 0;

    fresh(PLAN_BRANCHES, 6, 9);
    view.now = START;
    ok(!pull_choose(&p, &view, way), "%s: none at the start", way_name[way]);
    view.now = LATER;
    memset(presence, GONE, sizeof presence);
    ok(!pull_choose(&p, &view, way), "none if all others are gone");
    memset(presence, 0, sizeof presence);
    memset(hold, CHUNK_ASKED, sizeof hold);
    ok(!pull_choose(&p, &view, way), "none if all is asked for");
    memset(hold, CHUNK_HELD, sizeof hold);
    ok(!pull_choose(&p, &view, way), "none if all is held");
    memset(hold, CHUNK_MISSING, sizeof hold);
    estimator_refused(&estimator, LATER);
    for (int i = 0; i < 100; i++)
        any |= pull_choose(&p, &view, way);
    is_int(any, 0, "none in the silence after a refusal");
    plan.chunks = 0;
    ok(!pull_choose(&p, &view, way), "none of no chunks");
}

/* The one chunk that is missing, from the one node that is left. */
static void test_last(enum pull_way way)
{
    struct pull p;
    unsigned good = 0, times = 0;

    fresh(PLAN_BRANCHES, 6, 9);
    memset(hold, CHUNK_HELD, sizeof hold);
    hold[7] = CHUNK_MISSING; /* of branch 1; self's is 3 */
    for (int i = 0; i < 1000; i++)
        if (pull_choose(&p, &view, way)) {
            times++;
            good += p.chunk == 7 && p.node % 6 == 1;
        }
    ok(times >= 950 && good == times,
       "%s: the last missing chunk is found, "
       "%u of 1000 times",
       way_name[way], times);
}

/* The one behind what is pushed has its turn, too. */
static int is_even(const unsigned *n, size_t size, double each)
{
    for (size_t i = 0; i < size; i++)
        if (n[i] > 0 && (n[i] < 0.7 * each || n[i] > 1.8 * each)) {
            diag("%u at %zu, %g expected", n[i], i, each);
            return 0;
        }
    return 1;
}

/* No node is asked by all, no chunk by all for. */
static void test_spread(enum pull_way way)
{
    unsigned node[NODES] = {0}, chunk[CHUNKS] = {0}, nodes = 0, chunks = 0;
    const unsigned draws = 40000;
    struct pull p;

    fresh(PLAN_BRANCHES, 6, 9);
    for (unsigned i = 0; i < draws; i++) {
        if (!pull_choose(&p, &view, way))
            bail("nothing to choose");
        node[p.node]++;
        chunk[p.chunk]++;
    }
    for (uint32_t v = 0; v < NODES; v++)
        nodes += node[v] > 0;
    for (uint32_t j = 0; j < CHUNKS; j++)
        chunks += chunk[j] > 0;
    ok(nodes == NODES - 7 && is_even(node, NODES, draws / 35.0),
       "%s: the nodes of other branches are asked alike", way_name[way]);
    ok(chunks == CHUNKS - 10 && is_even(chunk, CHUNKS, draws / 50.0),
       "for all their chunks alike");
}

/* One chunk of a branch is missing and all of another branch: how many of 1000
 * choices are that one? */
static unsigned choose_single(enum pull_way way)
{
    uint32_t single = 0, other = 1, root;
    unsigned n = 0;

    fresh(PLAN_BRANCHES, 6, 9);
    while (plan_is_pushed(&plan, view.self, single))
        single++;
    while (plan_is_pushed(&plan, view.self, other)
           || plan_give(&plan, other).node == plan_give(&plan, single).node)
        other++;
    root = plan_give(&plan, other).node;
    for (uint32_t j = 0; j < CHUNKS; j++)
        hold[j] = j == single || plan_give(&plan, j).node == root
                      ? CHUNK_MISSING
                      : CHUNK_HELD;
    for (int i = 0; i < 1000; i++) {
        struct pull p = {UINT32_MAX, UINT32_MAX};

        n += pull_choose(&p, &view, way) && p.chunk == single;
    }
    return n;
}

static void test_ways(void)
{
    unsigned n = choose_single(PULL_BY_CHUNK);

    ok(n > 20 && n < 250, "by chunk: one chunk is chosen as one of many: %u",
       n);
    n = choose_single(PULL_BY_NODE);
    ok(n > 400 && n < 600, "by node: a branch is chosen as one of two: %u", n);
}

/* With a chunk a branch: in each slot every node asks another, of its own place, and
 * in so many slots as there are other branches it asks for all that it lacks. */
static void test_turn(void)
{
    uint32_t k = 6;
    unsigned twice = 0, elsewhere = 0, short_of = 0;
    uint8_t got[NODES][CHUNKS] = {{0}};

    fresh(PLAN_BRANCHES, k, 0);
    for (unsigned slot = 0; slot < k; slot++) {
        uint8_t asked[NODES] = {0};

        for (uint32_t v = 0; v < NODES; v++) {
            struct pull p;

            view.self = v;
            view.now = LATER + SLOT * (slot + 0.5);
            for (uint32_t j = 0; j < CHUNKS; j++)
                hold[j] = j >= k || got[v][j] ? CHUNK_HELD : CHUNK_MISSING;
            if (!pull_choose(&p, &view, PULL_BY_TURN))
                continue; /* its own branch's turn, and it has the others */
            elsewhere += p.node / k != v / k;
            if (p.node % k
                == (v % k + (uint64_t)(LATER - START) + slot + 1) % k)
                twice += asked[p.node]++ > 0;
            got[v][p.chunk] = 1;
        }
    }
    for (uint32_t v = 0; v < NODES; v++)
        for (uint32_t j = 0; j < k; j++)
            short_of += j != v % k && !got[v][j];
    is_int(twice, 0, "by turn: in a slot no two nodes ask the same one");
    is_int(elsewhere, 0, "but the one in their own place of another branch");
    is_int(short_of, 0, "and after a slot a branch nobody lacks anything");
}

/* Repair: the chunk is known. */
static void test_node(void)
{
    unsigned node[NODES] = {0}, nodes = 0, wrong = 0;
    uint32_t self = 13, chunk = 17, parent;
    struct pull p = {.chunk = chunk};

    fresh(PLAN_STRIPES, 4, self);
    parent = plan_parent(&plan, self, chunk);
    presence[2] = presence[30] = GONE;
    for (int i = 0; i < 20000; i++) {
        if (!pull_choose_node(&p, &view))
            bail("nobody to choose");
        wrong += p.chunk != chunk || !is_possible(p.node, chunk);
        node[p.node]++;
    }
    is_int(wrong, 0, "for one chunk: only who has it, is there, and another");
    for (uint32_t v = 0; v < NODES; v++)
        nodes += node[v] > 0;
    ok(nodes == NODES - 4 && is_even(node, NODES, 20000.0 / (NODES - 4)),
       "all of them alike");
    ok(parent != PLAN_NOBODY && node[parent] == 0,
       "but its parent, which pushes it");
    view.now =
        START
        + SLOT * (double)plan_slots(&plan, plan_give(&plan, chunk).node, chunk);
    for (int i = 0; i < 1000; i++)
        if (pull_choose_node(&p, &view))
            wrong += p.node != plan_give(&plan, chunk).node;
    is_int(wrong, 0, "as long as only the root has it: just the root");
    view.now = START;
    is_int(pull_choose_node(&p, &view), 0, "before: nobody");
}

int main(void)
{
    test_generator();
    for (int way = PULL_BY_TURN; way <= PULL_BY_NODE; way++) {
        test_possible((enum pull_way)way);
        test_none((enum pull_way)way);
        test_last((enum pull_way)way);
        if (way != PULL_BY_TURN)
            test_spread((enum pull_way)way);
    }
    test_ways();
    test_turn();
    test_node();
    return done();
}
