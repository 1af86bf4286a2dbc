/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every policy on four nodes of 80, 40, 20 and 10 units a second, simulated:
 * that it balances them, how soon, and that no unit is lost.
 */
#include "policy/balance.h"
#include "cost.h"
#include "fault.h"
#include "policy/canon.h"
#include "policy/even.h"
#include "policy/kinds.h"
#include "policy/select.h"
#include "policy/static.h"
#include "tap.h"

#define N      4
#define FRAMES 20
#define UNITS  1500 /* ten seconds, ideally */

static const double speeds[N] = {80, 40, 20, 10};
static double defaults[POLICY_PARAMS];

/* A frame takes ten seconds, a piece 5 ms to start and 2 ms to come. */
static struct balance_setup ring(const struct policy_kind *kind)
{
    policy_defaults(kind, defaults);
    return (struct balance_setup){
        .n = N,
        .speed = speeds,
        .noise = 0.02,
        .burn = 0.005,
        .delay = 0.002,
        .units = UNITS,
        .grain = 1,
        .pieces = 1,
        .policy = kind,
        .value = defaults,
        .threshold = {THRESHOLD_PERCENT, 5},
        .seed = 3,
    };
}

static struct balance *start(const struct balance_setup *setup)
{
    struct balance *b = balance_create(setup);

    if (!b)
        bail("%s: init failed", setup->policy->name);
    return b;
}

static void next(struct balance *b, struct balance_frame *f)
{
    if (balance_next(b, f) < 0)
        bail("no memory");
}

/* What a run came to. */
struct result {
    double efficiency[FRAMES];
    double mean, makespan; /* to the ideal one, of the speeds at first */
    uint64_t messages, taken;
    int is_whole; /* every frame's units were done, once */
};

static struct result run(const struct balance_setup *setup)
{
    struct result r = {.is_whole = 1};
    struct balance *state = start(setup);

    for (int i = 0; i < FRAMES; i++) {
        struct balance_frame f;
        uint64_t units = 0;

        next(state, &f);
        for (size_t k = 0; k < setup->n; k++)
            units += balance_done(state, k);
        r.is_whole &= units == setup->units && f.first <= f.last;
        r.efficiency[i] = f.busy;
        r.mean += f.busy / FRAMES;
        r.makespan += f.last / FRAMES / ((double)setup->units / 150);
        r.messages += f.messages;
        r.taken += f.taken;
    }
    balance_destroy(state);
    return r;
}

static void tell(const char *name, const struct result *r)
{
    int soon = 0;

    while (soon < FRAMES && r->efficiency[soon] < 0.9)
        soon++;
    diag("%-13s mean %.3f, first %.3f, %2d frames to 0.9, "
         "makespan / ideal %.3f, %ju messages",
         name, r->mean, r->efficiency[0], soon, r->makespan,
         (uintmax_t)r->messages);
}

/* --- every policy --------------------------------------------------------- */

/* What may be expected of each; frames of this size suit each bundle policy but
   rl2, which tries bundles of half a frame. */
static const struct expected {
    const char *name, *key;
    double value; /* of the key */
    double least, most;
} expected[] = {
    {"static", NULL, 0, 0.4, 0.5}, /* nothing is balanced */
    {"canon", NULL, 0, 0.6, 0.9},    {"even", NULL, 0, 0.92, 1},
    {"manual", NULL, 0, 0.98, 1},    {"nodethreads", NULL, 0, 0.98, 1},
    {"autotuned", NULL, 0, 0.92, 1}, {"proportional", NULL, 0, 0.9, 1},
    {"rl", NULL, 0, 0.8, 1},         {"rl2", "maxRelativeSize", 0.01, 0.9, 1},
};

/* One that is not named is to do better than no balancing. */
static const struct expected *expected_of(const char *name)
{
    static const struct expected other = {.least = 0.5, .most = 1};

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (strcmp(expected[i].name, name) == 0)
            return &expected[i];
    return &other;
}

static void test_every_policy(void)
{
    const struct policy_kind *kind;

    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++) {
        const struct expected *want = expected_of(kind->name);
        struct balance_setup setup = ring(kind);
        struct result r;

        if (want->key)
            defaults[policy_param_find(kind, want->key)] = want->value;
        r = run(&setup);
        ok(r.mean >= want->least && r.mean <= want->most,
           "%s: mean efficiency %.3f", kind->name, r.mean);
        ok(r.is_whole, "%s: every unit is done once", kind->name);
        tell(kind->name, &r);
    }
}

/* --- one node slows down -------------------------------------------------- */

static void test_slow_down(double at)
{
    const struct balance_change half = {8, at, 0, 40};
    struct balance_setup setup = ring(&even_kind);
    struct result whole, pieces;

    setup.change = &half;
    setup.n_changes = 1;
    whole = run(&setup);
    setup.pieces = 16;
    pieces = run(&setup);
    ok(whole.efficiency[8] < 0.85 && whole.taken == 0,
       "80 falls to 40 after %g s: the frame suffers (%.3f)", at,
       whole.efficiency[8]);
    ok(pieces.efficiency[8] >= 0.85,
       "in pieces it does not: the others take over (%.3f)",
       pieces.efficiency[8]);
    ok(whole.efficiency[10] >= 0.95 && pieces.efficiency[10] >= 0.95,
       "and frame 10 is balanced again (%.3f, %.3f)", whole.efficiency[10],
       pieces.efficiency[10]);
    ok(whole.is_whole && pieces.is_whole, "every unit is done once");
}

/* Static slices that are far off, in ever more pieces. */
static void test_pieces(void)
{
    double before = 0;
    int pass = 1;

    for (uint64_t pieces = 2; pieces <= 32; pieces *= 4) {
        struct balance_setup setup = ring(&static_kind);
        struct result r;

        setup.pieces = pieces;
        r = run(&setup);
        pass &= r.mean > before && r.is_whole;
        before = r.mean;
        diag("static, %2ju pieces: mean %.3f", (uintmax_t)pieces, r.mean);
    }
    ok(pass && before > 0.95,
       "more pieces, better balance, even of bad slices");
}

/* With a tail all finish together; the policy must see through that. */
static void test_learns_despite_tail(void)
{
    struct balance_setup setup = ring(&even_kind);
    struct result r;

    setup.pieces = 16;
    r = run(&setup);
    ok(r.taken > 0 && r.taken < UNITS,
       "what is taken over is mostly the first frame's (%ju units of %d)",
       (uintmax_t)r.taken, FRAMES * UNITS);
}

/* --- exact ---------------------------------------------------------------- */

/* A node at 10 units a second works at pieces of half a second; from 1.2 s on it
   is half as fast.  So two pieces go well, of the third 3 units are left, which
   take 0.6 s, and the last takes 1 s. */
static void test_change_between(void)
{
    const double speed[1] = {10};
    const struct balance_change slower = {1, 1.2, 0, 5};
    struct balance_setup setup = {.n = 1,
                                  .speed = speed,
                                  .change = &slower,
                                  .n_changes = 1,
                                  .units = 20,
                                  .grain = 1,
                                  .pieces = 1,
                                  .policy = kinds_find("manual"),
                                  .value = (const double[]){5}};
    struct balance_frame f;
    struct balance *state = start(&setup);

    next(state, &f);
    is_near(f.last, 2, 1e-12, "the first frame is as it was before");
    next(state, &f);
    is_near(f.last, 2.8, 1e-12, "the second has the change at its time");
    next(state, &f);
    is_near(f.last, 4, 1e-12, "the third begins after it");
    balance_destroy(state);
}

static void test_by_hand(void)
{
    const double speed[2] = {2, 1}, prior[2] = {3, 1};
    const struct balance_change faster = {0, 3, 1, 2};
    struct balance_setup setup = {.n = 2,
                                  .speed = speed,
                                  .prior = prior,
                                  .change = &faster,
                                  .n_changes = 1,
                                  .burn = 1,
                                  .delay = 0.5,
                                  .units = 40,
                                  .grain = 1,
                                  .pieces = 1,
                                  .policy = &static_kind,
                                  .value = NULL};
    struct balance_frame f;
    struct balance *state = start(&setup);

    next(state, &f);
    /* 0.5 + 1 + 20 / 2; the other takes 2 to start: at 3 s it has still 19.5 */
    is_near(f.first, 11.5, 1e-12, "start, delay and units add up");
    is_near(f.last, 3 + 19.5 / 2, 1e-12, "a change within a piece counts");
    is_near(f.busy, (11.0 + 12.25) / (2 * 12.75), 1e-12,
            "efficiency is busy time of all over nodes times the last");
    is_int((intmax_t)f.messages, 4, "a piece and a result each");
    balance_destroy(state);
    setup.policy = &even_kind;
    policy_defaults(&even_kind, defaults);
    setup.value = defaults;
    state = start(&setup);
    next(state, &f);
    is_int((intmax_t)balance_done(state, 0), 30, "the prior sizes slices");
    balance_destroy(state);
}

/* --- a real run ----------------------------------------------------------- */

/* Node 0 is slow and has one unit of five; node 1 takes its four one by one,
 * and is late with the third, so that at 5 s a look gives node 0 the last. */
static const struct balance_piece real[] = {
    {0, {0, 1}, 0, 2.5, 2.4, 0}, {1, {1, 2}, 0, 1, 0.9, 0},
    {1, {2, 3}, 1, 2, 0.9, 0},   {1, {3, 4}, 2, 7, 4.9, 0},
    {0, {4, 5}, 5, 7.5, 2.4, 0},
};

enum { REAL = sizeof real / sizeof real[0] };

static void test_record(void)
{
    static const double speed[2] = {1, 1}, prior[2] = {1, 3};
    struct balance_piece piece[REAL];
    struct balance_record record = {piece, REAL};
    struct balance_setup setup = {.n = 2,
                                  .speed = speed,
                                  .record = &record,
                                  .prior = prior,
                                  .units = 5,
                                  .grain = 1,
                                  .pieces = 4,
                                  .policy = &even_kind,
                                  .value = defaults};
    static const struct {
        const char *what;
        size_t at;
        struct balance_piece p;
        size_t n;
        uint64_t same;
    } altered[] = {
        {"nothing altered", 0, {0, {0, 1}, 0, 2.5, 2.4, 0}, REAL, REAL},
        {"another node", 0, {1, {0, 1}, 0, 2.5, 2.4, 0}, REAL, 0},
        {"another begin", 1, {1, {0, 2}, 0, 1, 0.9, 0}, REAL, 1},
        {"another end", 1, {1, {1, 3}, 0, 1, 0.9, 0}, REAL, 1},
        {"a piece sent later", 2, {1, {2, 3}, 1.5, 2, 0.9, 0}, REAL, 2},
        {"a piece sent earlier", 2, {1, {2, 3}, 0.5, 2, 0.9, 0}, REAL, 2},
        {"a look too early", 4, {0, {4, 5}, 4, 6, 1.9, 0}, REAL, 4},
        {"a look too late", 4, {0, {4, 5}, 8, 9, 0.9, 0}, REAL, 4},
        {"a piece less", 4, {0, {4, 5}, 5, 7.5, 2.4, 0}, REAL - 1, 4},
        {"no piece", 0, {0, {0, 1}, 0, 2.5, 2.4, 0}, 0, 0},
    };

    policy_defaults(&even_kind, defaults);
    for (size_t i = 0; i < sizeof altered / sizeof altered[0]; i++) {
        struct balance_frame f;
        struct balance *b;

        memcpy(piece, real, sizeof piece);
        piece[altered[i].at] = altered[i].p;
        // cppcheck-suppress unreadVariable ; setup points to it
        record.n = altered[i].n;
        b = start(&setup);
        next(b, &f);
        ok(f.same == altered[i].same && f.differs == (f.same < REAL),
           "a record with %s: %ju pieces are the same", altered[i].what,
           (uintmax_t)f.same);
        if (i == 0) {
            is_near(f.last, 7.5, 0, "the record's times are the simulator's");
            is_near(f.busy, (2.4 + 0.9 + 0.9 + 4.9 + 2.4) / 15, 1e-15,
                    "so are the seconds of its commands");
            is_int((intmax_t)f.taken, 1, "what was taken over is counted");
        }
        balance_destroy(b);
    }
}

/* Ranked metrics count instead of what the qualification found. */
static void test_metric(void)
{
    static const struct profile profile = {{1}};
    static const double speed[2] = {1, 1}, prior[2] = {1, 1};
    const struct metric metric[2] = {{.X = {75}, .CU = {100}, .JL = 75},
                                     {.X = {25}, .CU = {100}, .JL = 25}};
    struct balance_setup setup = ring(&even_kind);
    struct balance_frame f;
    struct balance *b;

    setup.n = 2;
    setup.speed = speed;
    setup.prior = prior;
    setup.metric = metric;
    setup.profile = &profile;
    setup.units = 100;
    b = start(&setup);
    next(b, &f);
    is_int((intmax_t)balance_done(b, 0), 75, "metrics size slices");
    balance_destroy(b);
}

static void test_same_again(void)
{
    struct balance_setup setup = ring(kinds_find("autotuned"));
    struct result a = run(&setup), b = run(&setup), c;

    setup.seed = 4;
    c = run(&setup);
    ok(memcmp(a.efficiency, b.efficiency, sizeof a.efficiency) == 0,
       "the same seed, the same run");
    ok(memcmp(a.efficiency, c.efficiency, sizeof a.efficiency) != 0,
       "another seed, another one");
}

static void test_bad(void)
{
    static const double zero[N] = {80, 40, 0, 10};
    static const double nan[N] = {80, 40, (double)NAN, 10};
    static const struct balance_change nobody = {0, 0, N, 1};
    static const struct balance_change stop = {0, 0, 0, 0};
    static const double no_prior[N] = {0, 0, 0, 0};
    const struct balance_setup good = ring(&even_kind);
    struct balance_setup bad[11];
    size_t n = sizeof bad / sizeof bad[0];

    for (size_t i = 0; i < n; i++)
        bad[i] = good;
    bad[0].n = 0;
    bad[1].speed = zero;
    bad[2].speed = nan;
    bad[3].prior = no_prior;
    bad[4].change = &nobody;
    bad[5].change = &stop;
    bad[4].n_changes = bad[5].n_changes = 1;
    bad[6].noise = -1;
    bad[7].burn = INFINITY;
    bad[8].delay = (double)NAN;
    bad[9].units = 0;
    bad[10].grain = 0;
    for (size_t i = 0; i < n; i++)
        ok(!balance_create(&bad[i]), "a bad setup is refused");
}

static void test_no_memory(void)
{
    struct balance_setup setup = ring(&even_kind);
    struct balance_frame f;
    struct balance *b = NULL;
    long created = 0, failed = 0;
    int rc = -1, told = 1;

    for (; !b; created++) {
        fault_at = created;
        b = balance_create(&setup);
        fault_at = -1;
    }
    ok(created > 12, "each allocation of a simulation may fail");
    for (; rc < 0; failed++) {
        fault_at = failed;
        rc = balance_next(b, &f);
        told &= rc < 0 || fault_at >= 0;
        fault_at = -1;
    }
    ok(failed > 1 && told, "and each of a frame, which is told");
    balance_destroy(b);
    balance_destroy(NULL);
}

/* Sizes at the edges: all is done all the same. */
static void test_sizes(void)
{
    static const struct {
        uint64_t units, grain, pieces;
    } sizes[] = {{1, 1, 1},
                 {1, 1, 16},
                 {3, 7, 16},
                 {101, 10, 3},
                 {UINT64_C(1) << 62, 1, 16},
                 {UINT64_MAX, UINT64_C(1) << 60, 16}};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct balance_setup setup = ring(&even_kind);
        struct result r;

        setup.units = sizes[i].units;
        setup.grain = sizes[i].grain;
        setup.pieces = sizes[i].pieces;
        r = run(&setup);
        ok(r.is_whole, "%ju units in grains of %ju and %ju pieces",
           (uintmax_t)sizes[i].units, (uintmax_t)sizes[i].grain,
           (uintmax_t)sizes[i].pieces);
    }
    {
        struct balance_setup setup = ring(kinds_find("proportional"));
        struct result r;

        setup.units = UINT64_C(1) << 62;
        r = run(&setup);
        ok(r.is_whole, "bundles of 2^62 units");
    }
}

/* --- big ------------------------------------------------------------------ */

enum { BIG = 16384 };

/* One step of a policy on as many nodes: a result, of a hundred the one in the
   middle, and a whole frame's adjusting. */
static void time_policy(const struct policy_kind *kind)
{
    static struct metric m[BIG];
    static struct completion c[BIG];
    static double load[BIG];
    const struct profile profile = {{1}};
    struct policy_setup setup = {BIG, m, &profile, defaults};
    double result[100] = {0}, begin;
    void *state;

    policy_defaults(kind, defaults);
    for (size_t i = 0; i < BIG; i++) {
        m[i] = (struct metric){.X = {1}, .CU = {100}, .JL = 1};
        c[i] =
            (struct completion){.units = 100, .seconds = 1 + (double)(i % 10)};
    }
    state = malloc(kind->state_bytes(BIG, defaults));
    if (!state || kind->init(state, &setup) < 0)
        bail("%s: init failed", kind->name);
    for (size_t i = 0; kind->bundles && i < 100; i++) {
        begin = cpu_seconds();
        kind->bundles->set_job(state, i, 10000000, 10000000);
        kind->bundles->feedback(state, i, 10, 1e9 + (double)i);
        result[i] = cpu_seconds() - begin;
    }
    (void)kind->adjust(state, c, 1, load); /* touches the memory */
    diag("%s", kind->name);
    begin = cpu_seconds();
    (void)kind->adjust(state, c, 1, load);
    costs(cpu_seconds() - begin, 0.005, "16,384 nodes: a frame");
    costs(select_median(result, 100), 0.00006, "16,384 nodes: a result");
    ok(load[0] > 0, "%s sizes 16,384 slices", kind->name);
    free(state);
}

static void test_big(void)
{
    static double speed[BIG];
    struct balance_setup setup = ring(&even_kind);
    struct balance_frame f = {0};
    struct balance *state;

    for (size_t i = 0; i < BIG; i++)
        speed[i] = 1 + (double)(i % 10);
    setup.n = BIG;
    setup.speed = speed;
    setup.units = 1000 * BIG;
    state = start(&setup);
    for (int i = 0; i < 3; i++)
        next(state, &f);
    ok(f.busy > 0.9, "16,384 nodes are balanced in the third frame (%.3f)",
       f.busy);
    balance_destroy(state);
}

/* Equal slices of unequal nodes, in pieces: each node but the slowest becomes
 * idle and takes over, often more than once. */
static void test_big_tail(void)
{
    static double speed[BIG];
    struct balance_setup setup = ring(&static_kind);
    struct balance_frame f = {0};
    struct balance *b;
    double begin;

    for (size_t i = 0; i < BIG; i++)
        speed[i] = 10 << i % 4;
    setup.n = BIG;
    setup.speed = speed;
    setup.units = UINT64_C(375) * BIG;
    setup.pieces = 16;
    b = start(&setup);
    begin = cpu_seconds();
    next(b, &f);
    costs(cpu_seconds() - begin, 0.4, "a frame of 16,384 nodes with a tail");
    ok(f.busy > 0.95 && f.taken > setup.units / 4,
       "a third of it is taken over, and all end together (%.3f)", f.busy);
    balance_destroy(b);
}

int main(void)
{
    test_every_policy();
    test_slow_down(0);
    test_slow_down(3);
    test_slow_down(7);
    test_pieces();
    test_learns_despite_tail();
    test_by_hand();
    test_change_between();
    test_record();
    test_metric();
    test_same_again();
    test_bad();
    test_no_memory();
    test_sizes();
    test_big();
    test_big_tail();
    for (size_t i = 0; kinds_at(i); i++)
        time_policy(kinds_at(i));
    return done();
}
