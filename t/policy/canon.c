/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/canon.h"
#include "cost.h"
#include "fenced.h"
#include "policy/shares.h"
#include "tap.h"

#define N    4
#define GONE PRESENCE_GONE

static const struct {
    const char *name;
    double cu[N];
    enum presence presence[N];
    size_t last;
    double points;
    double want[N];
} moves[] = {
    {"d. alone: nothing moves",
     {30, 10, 10, 50},
     {GONE, GONE, GONE},
     3,
     5,
     {30, 10, 10, 50}},
    {"a. nothing to take", {30, 10, 10, 0}, {0}, 3, 5, {30, 10, 10, 0}},
    {"a. only what is there is taken",
     {30, 10, 10, 2.5},
     {0},
     3,
     5,
     {31.5, 10.5, 10.5, 0}},
    {"11. Table 5", {30, 10, 10, 50}, {0}, 3, 5, {33, 11, 11, 45}},
    {"11. the first node is last",
     {50, 30, 10, 10},
     {0},
     0,
     5,
     {45, 33, 11, 11}},
    {"11. a CU of 0 is given nothing",
     {40, 10, 0, 50},
     {0},
     3,
     5,
     {44, 11, 0, 45}},
    {"c. all others 0: equal parts", {0, 0, 0, 60}, {0}, 3, 6, {2, 2, 2, 54}},
    {"e. who left is given nothing",
     {30, 10, 10, 50},
     {0, GONE},
     3,
     4,
     {33, 10, 11, 46}},
};

static void test_moves(void)
{
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        struct metric m[N] = {{.JL = 1}};
        struct completion c[N] = {{0}};
        unsigned char late[N] = {0};
        int pass = 1, moved, differs = 0;
        double sum = 0;

        for (size_t k = 0; k < N; k++) {
            m[k].CU[ELEMENT_C] = moves[i].cu[k];
            c[k].presence = moves[i].presence[k];
        }
        late[moves[i].last] = 1;
        moved = canon_move(m, c, N, ELEMENT_C, late, moves[i].points);
        for (size_t k = 0; k < N; k++) {
            pass &= fabs(m[k].CU[ELEMENT_C] - moves[i].want[k]) < 1e-12;
            differs |= moves[i].cu[k] < moves[i].want[k];
            sum += m[k].CU[ELEMENT_C] - moves[i].cu[k];
        }
        ok(pass && moved == differs, "%s", moves[i].name);
        is_near(sum, 0, 1e-12, "the sum stays");
    }
}

struct ring {
    struct metric m[N];
    struct profile profile;
    double value[POLICY_PARAMS];
    struct policy_setup setup;
    double load[N];
    void *state;
};

/* A ring whose nodes are equal in C and, as given, in M. */
static void start(struct ring *r, double influence_c, double influence_m)
{
    const double measured[N][ELEMENTS] = {
        {1, 3, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}};

    memset(r, 0, sizeof *r);
    r->profile.influence[ELEMENT_C] = influence_c;
    r->profile.influence[ELEMENT_M] = influence_m;
    r->profile.influence[ELEMENT_G] = 2; /* and nobody has any */
    policy_defaults(&canon_kind, r->value);
    if (metric_rank(measured, &r->profile, r->m, N) < 0)
        bail("ranking failed");
    r->setup = (struct policy_setup){N, r->m, &r->profile, r->value};
    r->state = malloc(canon_kind.state_bytes(N, NULL));
    if (!r->state || canon_kind.init(r->state, &r->setup) < 0)
        bail("init failed");
}

/* JL if node `last`'s CU of C has lost 5 points, by the formula of metric.h. */
static double expected_load(const struct ring *r, size_t node, size_t last)
{
    double I = r->profile.influence[ELEMENT_C], CU = 100 * I;
    double sum = 0, mine = 0;

    for (size_t i = 0; i < N; i++) {
        double c = i == last ? CU - 5 : CU + 5.0 / 3;
        double M = r->profile.influence[ELEMENT_M];
        double load =
            c * r->m[i].X[ELEMENT_C] * I + 100 * M * r->m[i].X[ELEMENT_M] * M;

        sum += load;
        mine = i == node ? load : mine;
    }
    return 100 * mine / sum;
}

static void test_loop(void)
{
    struct completion c[N] = {
        {5, 0, 0, 0, 0}, {5, 2, 0, 0, 0}, {5, 3, 0, 0, 0}, {5, 10, 0, 0, 0}};
    struct ring r;

    start(&r, 0.5, 0.25);
    canon_kind.loads(r.state, r.load);
    is_near(r.load[0], r.m[0].JL, 0, "8. first loads are JL");
    is_int(canon_kind.adjust(r.state, c, 0, r.load), 0, "10. not over T");
    is_near(r.load[3], r.m[3].JL, 0, "10. then the metric stays");
    is_int(canon_kind.adjust(r.state, c, 1, r.load), 1, "10. over T");
    is_near(r.load[0], expected_load(&r, 0, 3), 1e-12, "12. JL of the first");
    is_near(r.load[3], expected_load(&r, 3, 3), 1e-12, "12. JL of the last");
    free(r.state);

    start(&r, 0.5, 0.25);
    c[3].units = 0;
    (void)canon_kind.adjust(r.state, c, 1, r.load);
    is_near(r.load[2], expected_load(&r, 2, 2), 1e-12,
            "b. a time without a slice does not count");
    free(r.state);

    start(&r, 0.5, 0.25);
    c[1].seconds = 3;
    (void)canon_kind.adjust(r.state, c, 1, r.load);
    is_near(r.load[1], expected_load(&r, 1, 1), 1e-12,
            "b. equally late: the lower index is last");
    free(r.state);

    start(&r, 0.5, 0.5);
    (void)canon_kind.adjust(r.state, c, 1, r.load);
    is_near(r.load[1], expected_load(&r, 1, 1), 1e-12,
            "11. a tie of influence: the first element");
    free(r.state);
}

static const struct {
    const char *name;
    enum presence presence[N];
    unsigned char late[N];
    double want[N];
} variants[] = {
    {"11. two last ones are taken from, the rest is given to",
     {0},
     {0, 0, 1, 1},
     {37.5, 12.5, 5, 45}},
    {"11. all but the first", {0}, {0, 1, 1, 1}, {45, 5, 5, 45}},
    {"e. and who has left is passed over",
     {0, GONE},
     {0, 0, 1, 1},
     {40, 10, 5, 45}},
};

static void test_variants(void)
{
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        const double cu[N] = {30, 10, 10, 50};
        struct metric m[N] = {{.JL = 1}};
        struct completion c[N] = {{0}};
        int pass = 1;

        for (size_t k = 0; k < N; k++) {
            m[k].CU[ELEMENT_M] = cu[k];
            c[k].presence = variants[i].presence[k];
        }
        (void)canon_move(m, c, N, ELEMENT_M, variants[i].late, 5);
        for (size_t k = 0; k < N; k++)
            pass &= fabs(m[k].CU[ELEMENT_M] - variants[i].want[k]) < 1e-12;
        ok(pass, "%s", variants[i].name);
    }
}

/* Restart with a parameter other than its default. */
static void restart(struct ring *r, const char *key, double value)
{
    start(r, 0.5, 0.25);
    r->value[policy_param_find(&canon_kind, key)] = value;
    if (canon_kind.init(r->state, &r->setup) < 0)
        bail("%s: init failed", key);
}

static void test_parameters(void)
{
    struct completion c[N] = {
        {5, 10, 0, 0, 0}, {5, 9, 0, 0, 0}, {5, 10, 0, 0, 0}, {5, 7, 0, 0, 0}};
    struct ring one, r;

    restart(&r, "threshold", 40);
    is_int(canon_kind.adjust(r.state, c, 1, r.load), 0,
           "10. 3 s of 9 are not more than 40 percent");
    free(r.state);
    restart(&r, "threshold", 30);
    is_int(canon_kind.adjust(r.state, c, 1, r.load), 1, "10. but than 30");
    free(r.state);

    restart(&r, "worst", 2);
    start(&one, 0.5, 0.25);
    (void)canon_kind.adjust(r.state, c, 1, r.load);
    is_near(r.load[1] - r.load[3], one.m[1].JL - one.m[3].JL, 1e-12,
            "11. the worst two are taken from: two others keep their relation");
    ok(r.load[0] < one.m[0].JL && r.load[2] < one.m[2].JL,
       "b. of three late ones the two latest");
    free(r.state);
    restart(&r, "worst", 1000);
    (void)canon_kind.adjust(r.state, c, 1, r.load);
    ok(r.load[3] > one.m[3].JL && r.load[1] < one.m[1].JL,
       "b. the first is never taken from");
    free(r.state);

    restart(&r, "elements", 6);
    (void)canon_kind.adjust(r.state, c, 1, r.load);
    (void)canon_kind.adjust(one.state, c, 1, one.load);
    ok(r.load[0] < one.load[0], "11. all elements move more than one");
    free(one.state);
    start(&one, 0.5, 0.25);
    one.value[policy_param_find(&canon_kind, "elements")] = 2;
    (void)canon_kind.init(one.state, &one.setup);
    (void)canon_kind.adjust(one.state, c, 1, one.load);
    is_near(one.load[0], r.load[0], 0, "11. of which anyone has two");
    free(one.state);
    free(r.state);
}

/* Loads, but of no element that could be adjusted. */
static void test_no_element(void)
{
    const struct profile p = {{1}};
    struct metric m[N] = {{.JL = 1}};
    double value[POLICY_PARAMS];
    struct policy_setup setup = {N, m, &p, value};
    void *state = calloc(1, canon_kind.state_bytes(N, NULL));

    policy_defaults(&canon_kind, value);
    is_int(canon_kind.init(state, &setup), -1, "nobody has any element");
    m[2].X[ELEMENT_M] = 1; // cppcheck-suppress unreadVariable
    is_int(canon_kind.init(state, &setup), 0, "one has one");
    free(state);
}

static void test_leaving(void)
{
    struct completion c[N] = {
        {5, 1, 0, 0, 0}, {5, 1, 0, 0, 0}, {5, 1, 0, 0, 0}, {5, 9, GONE, 0, 0}};
    struct ring r;

    start(&r, 0.5, 0);
    is_int(canon_kind.adjust(r.state, c, 0, r.load), 1, "e. a node leaves");
    for (int i = 0; i < 3; i++)
        is_near(r.load[i], 100.0 / 3, 1e-12, "e. the rest keep proportion");
    is_near(r.load[3], 0, 0, "e. it has no load");
    free(r.state);
}

static void test_runs_down(void)
{
    struct completion c[N] = {
        {5, 1, 0, 0, 0}, {5, 1, 0, 0, 0}, {5, 1, 0, 0, 0}, {5, 9, 0, 0, 0}};
    struct ring r;
    int rounds = 0;

    start(&r, 0.5, 0);
    while (rounds < 100 && canon_kind.adjust(r.state, c, 1, r.load))
        rounds++;
    is_int(rounds, 10, "a. 50 points are gone after 10 rounds, then it rests");
    is_near(r.load[3], 0, 0, "f. a share of 0");
    free(r.state);
}

/* The slices settle for some ten rounds, then they swing. */
static void test_simulation(void)
{
    const double speed[N] = {80, 40, 20, 10};
    struct completion c[N] = {{0}};
    struct slice s[N];
    struct ring r;
    double best = 0, eff = 0, first_eff = 0;

    start(&r, 0.5, 0);
    canon_kind.loads(r.state, r.load);
    for (int frame = 0; frame < 30; frame++) {
        double sum = 0, most = 0;

        (void)shares_cut(0, 1000, 1, r.load, s, N);
        for (int i = 0; i < N; i++) {
            c[i].units = s[i].end - s[i].begin;
            c[i].seconds = (double)c[i].units / speed[i];
            sum += c[i].seconds;
            most = fmax(most, c[i].seconds);
        }
        eff = sum / (N * most);
        first_eff = frame == 0 ? eff : first_eff;
        best = fmax(best, eff);
        (void)canon_kind.adjust(r.state, c, 1, r.load);
    }
    ok(best > 0.8 && best > first_eff, "a ring of 80 40 20 10 gets better");
    diag("efficiency: first %.3f, best %.3f, frame 30 %.3f", first_eff, best,
         eff);
    free(r.state);
}

static void test_big(void)
{
    enum { BIG = 16384 };
    static double measured[BIG][ELEMENTS], load[BIG];
    static struct metric m[BIG];
    static struct completion c[BIG];
    struct profile p = {{0.3, 0.3, 0.2, 0.15, 0.05, 0}};
    double value[POLICY_PARAMS], *worst;
    struct policy_setup setup = {BIG, m, &p, value};
    void *state = malloc(canon_kind.state_bytes(BIG, NULL));
    double begin;

    for (size_t i = 0; i < BIG; i++) {
        for (int j = 0; j < ELEMENTS; j++)
            measured[i][j] = (double)(1 + i % 10);
        c[i] = (struct completion){5, (double)(i % 100), 0, 0, 0};
    }
    policy_defaults(&canon_kind, value);
    worst = &value[policy_param_find(&canon_kind, "worst")];
    *worst = BIG / 2;
    if (!state || metric_rank(measured, &p, m, BIG) < 0)
        bail("no ring");
    (void)canon_kind.init(state, &setup);
    begin = cpu_seconds();
    (void)canon_kind.adjust(state, c, 1, load);
    costs(cpu_seconds() - begin, 0.001, "canon, 16,384 nodes");
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
        {4.47519258748, 28.1912516509, 17.0143977767, 7.67325159369,
         11.2675609811, 20.001657791, 11.376687619},
        {3.09037378516, 19.8671046568, 22.6539458067, 4.48491501354,
         24.2765203548, 16.0606482088, 9.56649217417},
        {2.37384773078, 19.7619191947, 44.6224179468, 6.40340144816, 0,
         14.9718334315, 11.8665802481},
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

    policy_defaults(&canon_kind, value);
    value[1] = 1;
    value[2] = 2;
    value[3] = 2;
    for (size_t i = 0; i < SEVEN; i++)
        for (int j = 0; j < 3; j++)
            measured[i][j] = 1 + (double)draw(&x, 100);
    if (metric_rank((const double(*)[ELEMENTS])measured, &p, m, SEVEN) < 0)
        bail("not ranked");
    state = calloc(1, canon_kind.state_bytes(SEVEN, value));
    if (!state || canon_kind.init(state, &setup) < 0)
        bail("init failed");
    canon_kind.loads(state, load);
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
        (void)canon_kind.adjust(state, c, draw(&x, 4) > 0, load);
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
    test_moves();
    test_loop();
    test_variants();
    test_parameters();
    test_no_element();
    test_leaving();
    test_runs_down();
    test_simulation();
    test_big();
    return done();
}
