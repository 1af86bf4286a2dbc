/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated ring: nodes with speeds work through frames whose units cost
 * what the case says, with noise; the policy sees units and seconds only.
 */
#include "policy/even.h"
#include "cost.h"
#include "fenced.h"
#include "policy/shares.h"
#include "tap.h"

#define NODES  16
#define FRAMES 30
#define UNITS  2000

typedef double (*cost_fn)(double x, int frame); /* of a unit at x of [0, 1) */

struct ring {
    size_t n;
    double speed[NODES]; /* units of cost 1 per second */
    double prior[NODES]; /* JL */
    cost_fn cost;
    double noise;    /* sigma, relative */
    double overhead; /* seconds a slice */
    int change_at;   /* frame from which... */
    size_t changed;  /* ...this node... */
    double by;       /* ...has its speed times this; 0 = never */
    double limit;    /* T as part of the last response */
    uint64_t grain;
};

static double flat(double x, int frame)
{
    (void)x, (void)frame;
    return 1;
}

static double rising(double x, int frame)
{
    (void)frame;
    return 0.05 + x;
}

static double wave(double x, int frame)
{
    return 1 + 0.8 * sin(2 * 3.14159265358979 * (x + 0.002 * frame));
}

/* Mandelbrot-like: the middle costs 20 times the rim. */
static double peak(double x, int frame)
{
    double d = (x - 0.5 - 0.02 * sin(0.1 * frame)) / 0.12;

    return 0.05 + exp(-d * d);
}

/* Pseudo-normal: 12 uniform numbers, from a seed of its own. */
static double normal(uint64_t *seed)
{
    double sum = -6;

    for (int i = 0; i < 12; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        sum += (double)(*seed >> 11) * 0x1p-53;
    }
    return sum;
}

static void *start(const struct ring *r)
{
    struct metric m[NODES], *fill = m;
    struct profile p = {{1}};
    double value[POLICY_PARAMS];
    struct policy_setup setup = {r->n, m, &p, value};
    void *state = malloc(even_kind.state_bytes(r->n, NULL));

    for (size_t i = 0; i < r->n; i++)
        (fill++)->JL = r->prior[i];
    policy_defaults(&even_kind, value);
    if (!state || even_kind.init(state, &setup) < 0)
        bail("init failed");
    return state;
}

/* One run; adds each frame's efficiency to eff[]. */
static void run(const struct ring *r, uint64_t seed, double eff[FRAMES])
{
    void *state = start(r);
    struct completion c[NODES] = {{0}};
    struct slice s[NODES];
    double load[NODES];

    even_kind.loads(state, load);
    for (int f = 0; f < FRAMES; f++) {
        double sum = 0, first = INFINITY, last = 0;

        if (shares_cut(0, UNITS, r->grain ? r->grain : 1, load, s, r->n) < 0)
            bail("cut failed");
        for (size_t i = 0; i < r->n; i++) {
            double work = 0, speed = r->speed[i];

            for (uint64_t u = s[i].begin; u < s[i].end; u++)
                work += r->cost((double)u / UNITS, f);
            if (r->by > 0 && f >= r->change_at && i == r->changed)
                speed *= r->by;
            c[i].units = s[i].end - s[i].begin;
            c[i].seconds = 0;
            if (c[i].units == 0)
                continue;
            c[i].seconds =
                r->overhead
                + work / speed * fmax(0.1, 1 + r->noise * normal(&seed));
            sum += c[i].seconds;
            first = fmin(first, c[i].seconds);
            last = fmax(last, c[i].seconds);
        }
        eff[f] += sum / ((double)r->n * last);
        (void)even_kind.adjust(state, c, last - first > r->limit * last, load);
    }
    free(state);
}

/* Mean of many runs, frame by frame. */
static void mean_of_runs(const struct ring *r, double eff[FRAMES])
{
    int runs = r->noise > 0 ? 100 : 1;

    memset(eff, 0, FRAMES * sizeof *eff);
    for (int k = 0; k < runs; k++)
        run(r, (uint64_t)k + 1, eff);
    for (int f = 0; f < FRAMES; f++)
        eff[f] /= runs;
}

static double mean_from(const double eff[FRAMES], int from)
{
    double sum = 0;

    for (int f = from; f < FRAMES; f++)
        sum += eff[f];
    return sum / (FRAMES - from);
}

static void show(const char *what, const double eff[FRAMES])
{
    diag("%s: %.3f %.3f %.3f %.3f %.3f %.3f %.3f | mean from 1: %.3f, from 10: "
         "%.3f",
         what, eff[0], eff[1], eff[2], eff[3], eff[4], eff[5], eff[6],
         mean_from(eff, 1), mean_from(eff, 10));
}

#define SPEEDS                                                                 \
    4,                                                                         \
    {                                                                          \
        80, 40, 20, 10                                                         \
    }
#define EQUAL                                                                  \
    {                                                                          \
        25, 25, 25, 25                                                         \
    }
#define RIGHT                                                                  \
    {                                                                          \
        80, 40, 20, 10                                                         \
    }
#define ROUGH                                                                  \
    {                                                                          \
        60, 60, 15, 15                                                         \
    }

/* Efficiencies that must be reached from a frame on. */
static const struct {
    const char *name;
    struct ring ring;
    int from;
    double least;
} cases[] = {
    {"equal prior: 0.95 after one adjustment",
     {SPEEDS, EQUAL, flat, 0, 0, 0, 0, 0, 0.02, 0},
     1,
     0.99},
    {"right prior: never below 0.95",
     {SPEEDS, RIGHT, flat, 0, 0, 0, 0, 0, 0.02, 0},
     0,
     0.99},
    {"rough prior: 0.95 after one adjustment",
     {SPEEDS, ROUGH, flat, 0, 0, 0, 0, 0, 0.02, 0},
     1,
     0.99},
    {"a fixed cost per slice, a tenth of the frame: after two",
     {SPEEDS, EQUAL, flat, 0, 1.3, 0, 0, 0, 0.02, 0},
     2,
     0.95},
    {"rising cost, equal prior: after two",
     {SPEEDS, EQUAL, rising, 0, 0, 0, 0, 0, 0.02, 0},
     2,
     0.94},
    {"rising cost, right prior: after two",
     {SPEEDS, RIGHT, rising, 0, 0, 0, 0, 0, 0.02, 0},
     2,
     0.94},
    {"a slowly moving wave: 0.9 after three",
     {SPEEDS, RIGHT, wave, 0, 0, 0, 0, 0, 0.02, 0},
     3,
     0.9},
    {"a moving peak, 20 to 1: 0.8 after eight",
     {SPEEDS, RIGHT, peak, 0, 0, 0, 0, 0, 0.02, 0},
     8,
     0.8},
    {"half the speed in frame 8: back after one",
     {SPEEDS, RIGHT, flat, 0, 0, 8, 0, 0.5, 0.02, 0},
     9,
     0.95},
    {"twice the speed in frame 8: back after one",
     {SPEEDS, RIGHT, flat, 0, 0, 8, 3, 2, 0.02, 0},
     9,
     0.95},
    {"half the speed on a wave: back after two",
     {SPEEDS, RIGHT, wave, 0, 0, 8, 1, 0.5, 0.02, 0},
     10,
     0.9},
};

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double eff[FRAMES], least = 1;

        mean_of_runs(&cases[i].ring, eff);
        for (int f = cases[i].from; f < FRAMES; f++)
            least = fmin(least, eff[f]);
        if (!ok(least >= cases[i].least, "%s", cases[i].name))
            diag("least %.3f", least);
        show("  efficiency", eff);
    }
}

/* With 5 % noise not even the right cut is at 0.95 for long: compare to it. */
static void test_noise(void)
{
    struct ring r = {SPEEDS, EQUAL, flat, 0.05, 0, 0, 0, 0, 0.02, 0};
    struct ring oracle = {SPEEDS, RIGHT, flat, 0.05, 0, 0, 0, 0, 2, 0};
    struct ring half = {SPEEDS, RIGHT, flat, 0.05, 0, 8, 0, 0.5, 0.02, 0};
    double eff[FRAMES], best[FRAMES];

    mean_of_runs(&r, eff);
    mean_of_runs(&oracle, best);
    show("  the right cut, 5 % noise", best);
    show("  even, 5 % noise", eff);
    ok(eff[1] > 0.975 * mean_from(best, 1),
       "5 %% noise: near the right cut after one adjustment");
    ok(mean_from(eff, 1) > 0.985 * mean_from(best, 1),
       "5 %% noise: within 1.5 %% of the right cut in the long run");
    mean_of_runs(&half, eff);
    ok(eff[9] > 0.97 * mean_from(best, 1)
           && eff[10] > 0.97 * mean_from(best, 1),
       "5 %% noise: a node that halves is followed within two frames");
    diag("  before %.3f, then %.3f %.3f %.3f", eff[7], eff[8], eff[9], eff[10]);
}

static void test_sixteen(void)
{
    static const cost_fn cost[] = {flat, rising, wave, peak};
    static const char *const name[] = {"flat", "rising", "wave", "peak"};
    struct ring r = {
        16,
        {90, 70, 50, 40, 30, 20, 80, 60, 10, 99, 45, 33, 27, 55, 66, 77},
        {90, 70, 50, 40, 30, 20, 80, 60, 10, 99, 45, 33, 27, 55, 66, 77},
        flat,
        0.02,
        0,
        0,
        0,
        0,
        0.02,
        0};

    for (int i = 0; i < 4; i++) {
        double eff[FRAMES];

        r.cost = cost[i];
        mean_of_runs(&r, eff);
        diag("16 nodes, 2 %% noise, %s", name[i]);
        show("  efficiency", eff);
        ok(mean_from(eff, 15) > (i == 3 ? 0.75 : 0.85),
           "16 nodes settle on %s cost", name[i]);
    }
}

/* --- single steps --------------------------------------------------------- */

static void test_hysteresis(void)
{
    struct ring r = {SPEEDS, RIGHT, flat, 0, 0, 0, 0, 0, 0, 0};
    struct completion c[4] = {
        {80, 1, 0, 0, 0}, {40, 1, 0, 0, 0}, {20, 1, 0, 0, 0}, {10, 2, 0, 0, 0}};
    double was[4], load[4];
    void *state = start(&r);

    even_kind.loads(state, was);
    is_int(even_kind.adjust(state, c, 0, load), 0, "not over T: no change");
    ok(memcmp(was, load, sizeof was) == 0, "not over T: the same loads");
    is_int(even_kind.adjust(state, c, 1, load), 1, "over T: a change");
    is_near(load[3] / load[2], 0.25, 1e-9, "what was heard before is used");
    free(state);
}

static void test_unmeasured(void)
{
    struct ring r = {SPEEDS, EQUAL, flat, 0, 0, 0, 0, 0, 0, 0};
    struct completion c[4] = {
        {25, 1, 0, 0, 0}, {25, 1, 0, 0, 0}, {0, 0, 0, 0, 0}, {25, 4, 0, 0, 0}};
    double load[4];
    void *state = start(&r);

    (void)even_kind.adjust(state, c, 1, load);
    is_near(load[0] / load[1], 1, 1e-9, "two nodes as fast");
    is_near(load[0] / load[3], 4, 1e-9, "one a quarter");
    is_near(load[2] / load[1], 1 + EVEN_REGAIN, 1e-9,
            "one without measurement is taken for the median, and regains");
    is_int(even_kind.adjust(state, c, 0, load), 1,
           "it regains also when the others are even");
    is_near(load[0] + load[1] + load[2] + load[3], 100, 1e-9,
            "and loads still add up");
    free(state);
}

static void test_scale(void)
{
    struct ring r = {SPEEDS, RIGHT, flat, 0, 0, 0, 0, 0, 0, 0};
    struct completion c[4] = {
        {80, 1, 0, 0, 0}, {40, 1, 0, 0, 0}, {20, 1, 0, 0, 0}, {10, 1, 0, 0, 0}};
    struct completion odd[4] = {{80, 0, 0, 0, 0},
                                {40, (double)NAN, 0, 0, 0},
                                {20, -1, 0, 0, 0},
                                {10, (double)INFINITY, 0, 0, 0}};
    double was[4], load[4];
    void *state = start(&r);
    int same = 1;

    even_kind.loads(state, was);
    for (int f = 0; f < 20; f++) {
        for (int i = 0; i < 4; i++)
            c[i].seconds *= f % 2 ? 1e6 : 1e-3;
        (void)even_kind.adjust(state, c, 1, load);
        for (int i = 0; i < 4; i++)
            same &= fabs(load[i] - was[i]) < 1e-9;
    }
    ok(same, "frames that are harder as a whole change nothing");
    (void)even_kind.adjust(state, odd, 1, load);
    ok(fabs(load[0] - was[0]) < 1e-9 && fabs(load[3] - was[3]) < 1e-9,
       "times that are none are not believed");
    free(state);
}

static void test_extremes(void)
{
    static const double seconds[] = {1e-300, 1e-9, 1, 1e9, 1e300};
    struct ring r = {SPEEDS, EQUAL, flat, 0, 0, 0, 0, 0, 0, 0};
    int wrong = 0;

    for (unsigned code = 0; code < 625; code++) {
        void *state = start(&r);
        double load[4];

        for (unsigned f = 0, x = code; f < 6; f++, x = code * (f + 7)) {
            struct completion c[4] = {{0}};
            double sum = 0;

            for (int i = 0; i < 4; i++, x /= 5)
                c[i] = (struct completion){1 + x % 3, seconds[x % 5], 0, 0, 0};
            (void)even_kind.adjust(state, c, 1, load);
            for (int i = 0; i < 4; i++) {
                wrong += !(load[i] > 0);
                sum += load[i];
            }
            wrong += !(fabs(sum - 100) < 1e-6);
        }
        free(state);
    }
    is_int(wrong, 0, "times of 1e-300 to 1e300 leave loads > 0 that add up");
}

/* A node 200 times slower than at first has no grain; then it is well again. */
static void test_starved(void)
{
    struct ring r = {SPEEDS, EQUAL, flat, 0, 0, 0, 0, 0, 0, 0};
    double speed[4] = {1, 1, 1, 1}, load[4];
    struct completion c[4] = {{0}};
    struct slice s[4];
    void *state = start(&r);
    int empty_at = -1, back_at = -1;

    even_kind.loads(state, load);
    for (int f = 0; f < 400 && back_at < 0; f++) {
        double first = INFINITY, last = 0;

        speed[2] = f < 3 ? 0.005 : 1;
        (void)shares_cut(0, 40, 1, load, s, 4);
        for (int i = 0; i < 4; i++) {
            c[i].units = s[i].end - s[i].begin;
            c[i].seconds = (double)c[i].units / speed[i];
            if (c[i].units == 0)
                continue;
            first = fmin(first, c[i].seconds);
            last = fmax(last, c[i].seconds);
        }
        if (c[2].units == 0 && empty_at < 0)
            empty_at = f;
        if (empty_at >= 0 && c[2].units >= 8)
            back_at = f;
        (void)even_kind.adjust(state, c, last - first > 0.3 * last, load);
    }
    ok(empty_at >= 0, "a node that is too slow has an empty slice");
    ok(back_at > 0, "it is tried again, and gets its share back");
    diag("empty in frame %d, back in frame %d", empty_at, back_at);
    free(state);
}

/* A frame of which nothing is known teaches nothing. */
static void test_nothing(void)
{
    struct ring r = {.n = 3, .prior = {3, 2, 1}};
    const struct completion c[3] = {
        {0, 1, 0, 0, 0}, {5, 0, 0, 0, 0}, {5, (double)NAN, 0, 0, 0}};
    void *state = start(&r);
    double before[3], after[3];

    even_kind.loads(state, before);
    is_int(even_kind.adjust(state, c, 0, after), 0, "no node was measured");
    ok(memcmp(before, after, sizeof before) == 0, "the loads are as before");
    free(state);
}

static void test_unable(void)
{
    struct ring r = {3, {1}, {50, 50, 0}, flat, 0, 0, 0, 0, 0, 0, 0};
    struct completion c[3] = {
        {5, 1, 0, 0, 0}, {5, 2, 0, 0, 0}, {0, 0, 0, 0, 0}};
    double load[3];
    void *state = start(&r);

    for (int f = 0; f < 50; f++)
        (void)even_kind.adjust(state, c, 1, load);
    ok(load[2] == 0, "a node with JL 0 never gets work");
    c[0].presence = c[1].presence = PRESENCE_GONE;
    is_int(even_kind.adjust(state, c, 0, load), 1, "the able ones leave");
    is_near(load[2], 100, 1e-9, "then the others must");
    free(state);
}

static void test_copy(void)
{
    struct ring r = {SPEEDS, EQUAL, flat, 0, 0, 0, 0, 0, 0, 0};
    struct completion c[4] = {
        {25, 1, 0, 0, 0}, {25, 2, 0, 0, 0}, {25, 3, 0, 0, 0}, {25, 4, 0, 0, 0}};
    double a[4], b[4];
    void *state = start(&r), *copy = start(&r);

    memcpy(copy, state, even_kind.state_bytes(4, NULL));
    (void)even_kind.adjust(state, c, 1, a);
    (void)even_kind.adjust(copy, c, 1, b);
    ok(memcmp(a, b, sizeof a) == 0, "a copied state goes the same way");
    free(state);
    free(copy);
}

static void test_big(void)
{
    enum { BIG = 16384 };
    static struct metric m[BIG];
    static struct completion c[BIG];
    static double load[BIG];
    struct profile p = {{1}};
    double value[POLICY_PARAMS], best = 1;
    struct policy_setup setup = {BIG, m, &p, value};
    void *state = malloc(even_kind.state_bytes(BIG, NULL));
    uint64_t seed = 1;

    for (size_t i = 0; i < BIG; i++)
        m[i].JL = 1 + (double)(i % 10);
    policy_defaults(&even_kind, value);
    if (!state || even_kind.init(state, &setup) < 0)
        bail("init failed");
    for (int f = 0; f < 10; f++) {
        double begin;

        for (size_t i = 0; i < BIG; i++)
            c[i] = (struct completion){100, 1 + 0.05 * normal(&seed), 0, 0, 0};
        begin = cpu_seconds();
        (void)even_kind.adjust(state, c, 1, load);
        best = fmin(best, cpu_seconds() - begin);
    }
    costs(best, 0.001, "even, 16,384 nodes");
    free(state);
}

static uint32_t draw(uint32_t *x, uint32_t below)
{
    *x = *x * 1664525u + 1013904223u;
    return (*x >> 8) % below;
}

/* Frames of all kinds: in time or not, some nodes without a unit or with times
   that are none, one that leaves; always the same ones. */
static void test_same_everywhere(void)
{
    enum { SEVEN = 7, MANY = 120 };
    static const double want[3][SEVEN] = {
        {4.15366086981, 24.4561545809, 13.3563574272, 5.84204387075,
         22.1152152157, 18.8457302283, 11.2308378074},
        {2.8025074469, 15.4881187408, 39.5721396798, 4.05852717613,
         18.5369020561, 12.0571295165, 7.4846753838},
        {3.11170867451, 17.4515421564, 49.0152734378, 4.93371841873, 0,
         15.5821318034, 9.90562550921},
    };
    const struct profile p = {{0.5, 0.4, 0.1}};
    double(*measured)[ELEMENTS] = calloc(SEVEN, sizeof *measured);
    struct metric *m = calloc(SEVEN, sizeof *m);
    struct completion *c = calloc(SEVEN, sizeof *c);
    double *load = calloc(SEVEN, sizeof *load), value[POLICY_PARAMS];
    struct policy_setup setup = {SEVEN, m, &p, value};
    uint32_t x = 1;
    void *state;
    int same = 1;

    policy_defaults(&even_kind, value);
    for (size_t i = 0; i < SEVEN; i++)
        for (int j = 0; j < 3; j++)
            measured[i][j] = 1 + (double)draw(&x, 100);
    if (metric_rank((const double(*)[ELEMENTS])measured, &p, m, SEVEN) < 0)
        bail("not ranked");
    state = calloc(1, even_kind.state_bytes(SEVEN, value));
    if (!state || even_kind.init(state, &setup) < 0)
        bail("init failed");
    even_kind.loads(state, load);
    for (int f = 0; f < MANY; f++) {
        for (size_t i = 0; i < SEVEN; i++) {
            double speed = 1 + (double)(i * 5 % 7) + (f > 60 && i == 2 ? 9 : 0);

            c[i].units = draw(&x, 12) ? (uint64_t)(load[i] * 100) : 0;
            c[i].seconds = (double)c[i].units / speed
                           * (0.8 + 0.4 * draw(&x, 1000) / 1000.0);
            if (draw(&x, 40) == 0)
                c[i].seconds = draw(&x, 2) ? 0 : (double)INFINITY;
            if (f == 100 && i == 4)
                c[i].presence = PRESENCE_GONE;
        }
        (void)even_kind.adjust(state, c, draw(&x, 4) > 0, load);
        for (size_t i = 0; i < SEVEN && f % 50 == 19; i++)
            same &= fabs(load[i] - want[f / 50][i]) < 1e-9;
    }
    ok(same, "120 frames of all kinds: the very loads that they always gave");
    free(measured);
    free(m);
    free(c);
    free(load);
    free(state);
}

int main(void)
{
    fence_on = 1;
    test_same_everywhere();
    fence_on = 0;
    test_cases();
    test_noise();
    test_sixteen();
    test_hysteresis();
    test_unmeasured();
    test_scale();
    test_extremes();
    test_starved();
    test_nothing();
    test_unable();
    test_copy();
    test_big();
    return done();
}
