/* SPDX-License-Identifier: BSD-2-Clause */
/* Steering goes on where it helps, and stops where it does not: simulated. */
#include "policy/steering_worth.h"
#include "fenced.h"
#include "policy/power_simulation.h"
#include "tap.h"

#define NODES   4
#define REGIONS 400

struct course {
    double first, last; /* seconds of a region: mean of 50 */
    int stops, puts_back;
    int away; /* regions in which limits were not as at the start */
    uint64_t sum_least, sum_most;
};

static struct power_simulation_setup setup(const double work[],
                                           double exponent,
                                           double noise)
{
    return (struct power_simulation_setup){
        .n = NODES,
        .work = work,
        .limit = 500000,
        .floor = 125000,
        .ceiling = 1000000,
        .exponent = exponent,
        .noise = noise,
        .rule = {POWER_PAIR, POWER_BOUND, POWER_BAND, POWER_GAIN},
        .stops = 1,
        .seed = 1};
}

static struct course run(const struct power_simulation_setup *s)
{
    void *state = fenced(power_simulation_bytes(NODES));
    struct course c = {.sum_least = UINT64_MAX};
    struct power_region r;

    if (!state || power_simulation_init(state, s) < 0)
        bail("no simulation");
    for (int i = 0; i < REGIONS; i++) {
        uint64_t sum = 0;
        int away = 0;

        power_simulation_next(state, &r);
        c.first += i < 50 ? r.seconds / 50 : 0;
        c.last += i >= REGIONS - 50 ? r.seconds / 50 : 0;
        c.stops += r.order == WORTH_STOP;
        c.puts_back += r.order == WORTH_PUT_BACK;
        for (size_t k = 0; k < NODES; k++) {
            sum += power_simulation_limit(state, k);
            away |= power_simulation_limit(state, k) != s->limit;
        }
        c.away += away;
        c.sum_least = sum < c.sum_least ? sum : c.sum_least;
        c.sum_most = sum > c.sum_most ? sum : c.sum_most;
    }
    free(state);
    return c;
}

/* --- simulated ------------------------------------------------------------ */

static void test_helps(enum power_variant variant, double noise)
{
    static const double work[NODES] = {1, 1, 1, 1.6};
    struct power_simulation_setup s = setup(work, 1, noise);
    struct course c;

    s.rule.variant = variant;
    c = run(&s);
    ok(c.stops == 0 && c.last < 1.05 * 2 * 4.6 / 4 + 3 * noise,
       "it helps, noise %g: it goes on, %.3f s a region at the end", noise,
       c.last);
    ok(c.sum_least == c.sum_most, "the sum is kept all the time");
}

/* A program that waits for memory is as fast at any limit. */
static void test_does_not_help(double noise)
{
    static const double work[NODES] = {1, 1, 1, 1.6};
    struct power_simulation_setup s = setup(work, 1e-6, noise);
    struct course c = run(&s);

    ok(c.stops >= 1 && c.stops <= 3 && c.puts_back >= c.stops,
       "it does not help, noise %g: it stops, %d times", noise, c.stops);
    ok(c.away < REGIONS / 4, "what was tried is put back: %d regions with it",
       c.away);
    ok(c.sum_least == c.sum_most, "the sum is kept all the time");
}

/* Equal nodes with noise: there is nothing to gain, and little to lose. */
static void test_balanced(void)
{
    static const double work[NODES] = {1, 1, 1, 1};
    struct power_simulation_setup s = setup(work, 1, 0.03);
    struct course steered = run(&s), left;

    s.rule.variant = POWER_OFF;
    left = run(&s);
    ok(steered.stops >= 1, "equal nodes and noise: it stops");
    ok(steered.last <= left.last * 1.01,
       "and a region takes %.3f s, as without: %.3f s", steered.last,
       left.last);
}

/* --- the nine kinds of programs that steering has slowed down ------------- */

/* What each node has to do in region k, and what it waits for besides. */
typedef void (*kind_fn)(int k, int n, double work[NODES], double io[NODES]);

static void balanced(int k, int n, double work[NODES], double io[NODES])
{
    (void)k;
    (void)n;
    for (size_t i = 0; i < NODES; i++) {
        work[i] = 0.9;
        io[i] = 0;
    }
}

static void moving(int k, int n, double work[NODES], double io[NODES])
{
    balanced(k, n, work, io);
    work[k * NODES / n] *= 1.6;
}

static void to_and_fro(int k, int n, double work[NODES], double io[NODES])
{
    balanced(k, n, work, io);
    work[k % NODES] *= 1.6;
}

static void first_writes(int k, int n, double work[NODES], double io[NODES])
{
    balanced(k, n, work, io);
    io[0] = k % 3 == 2;
}

static void uneven(int k, int n, double work[NODES], double io[NODES])
{
    balanced(k, n, work, io);
    work[NODES - 1] *= 1.6;
}

static void uneven_short(int k, int n, double work[NODES], double io[NODES])
{
    uneven(k, n, work, io);
    for (size_t i = 0; i < NODES; i++)
        work[i] /= 3;
}

static void long_ones(int k, int n, double work[NODES], double io[NODES])
{
    uneven(k, n, work, io);
    for (size_t i = 0; i < NODES; i++)
        work[i] *= 2.5;
}

static void writes_then_computes(int k,
                                 int n,
                                 double work[NODES],
                                 double io[NODES])
{
    balanced(k, n, work, io);
    for (size_t i = 0; i < NODES && k < n / 2; i++) {
        work[i] = 0.1;
        io[i] = i == 0 ? 1.9 : 0;
    }
}

static void computes_less(int k, int n, double work[NODES], double io[NODES])
{
    if (k < n / 2)
        uneven(k, n, work, io);
    else
        balanced(k, n, work, io);
}

static const struct kind {
    const char *name;
    kind_fn fn;
    int regions;
    double gain;   /* under a cap of half, at least */
    double energy; /* that is used without a cap to save it, at most */
} kinds[] = {
    {"balanced", balanced, 24, 0, 1.01},
    {"two ranks a node, for long", balanced, 200, 0, 1.01},
    {"an imbalance that moves four times", moving, 24, 0, 1},
    {"one that moves each time", to_and_fro, 60, 0, 1.01},
    {"rank 0 writes", first_writes, 24, 0, 1.01},
    {"four long regions", long_ones, 4, 0, 0.995},
    {"uneven", uneven, 40, 0.2, 0.96},
    {"uneven, for long", uneven_short, 120, 0.2, 0.95},
    {"I/O, then computing", writes_then_computes, 30, 0, 1},
    {"uneven, then balanced", computes_less, 60, 0.05, 0.99},
};

struct took {
    double seconds, energy;
};

static struct took run_kind(const struct kind *kind,
                            enum power_variant variant,
                            uint64_t limit,
                            uint64_t seed)
{
    double work[NODES] = {0}, io[NODES] = {0};
    struct power_simulation_setup s = setup(work, 1, 0.02);
    void *state = fenced(power_simulation_bytes(NODES));
    struct took all = {0};
    struct power_region r;

    kind->fn(0, kind->regions, work, io);
    s.io = io;
    s.limit = limit;
    s.seed = seed;
    s.rule.variant = variant;
    if (!state || power_simulation_init(state, &s) < 0)
        bail("no simulation");
    for (int k = 0; k < kind->regions; k++) {
        kind->fn(k, kind->regions, work, io);
        power_simulation_next(state, &r);
        all.seconds += r.seconds;
        all.energy += r.energy;
    }
    free(state);
    return all;
}

enum { SEEDS = 20 };

/* The mean over seeds, and the worst one. */
static double compare(const struct kind *kind,
                      enum power_variant variant,
                      uint64_t limit,
                      double *worst,
                      double *energy)
{
    double mean = 0;

    *worst = *energy = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct took without = run_kind(kind, POWER_OFF, limit, seed);
        struct took with = run_kind(kind, variant, limit, seed);

        mean += with.seconds / without.seconds / SEEDS;
        *worst = fmax(*worst, with.seconds / without.seconds);
        *energy += with.energy / without.energy / SEEDS;
    }
    return mean;
}

static void test_kinds(void)
{
    static const struct {
        enum power_variant variant;
        const char *name;
        uint64_t limit;
    } ways[] = {{POWER_SAVE, "save", 1000000},
                {POWER_PAIR, "pair", 500000},
                {POWER_BOOST, "boost", 500000}};

    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            double worst, energy,
                mean = compare(&kinds[i], ways[w].variant, ways[w].limit,
                               &worst, &energy);
            int helps = ways[w].variant == POWER_SAVE
                            ? energy <= kinds[i].energy
                            : kinds[i].gain == 0 || mean <= 1 - kinds[i].gain;

            ok(worst <= 1 + WORTH_HARM && helps,
               "%s, %s: %.3f of the time without, at worst %.3f; energy %.3f",
               ways[w].name, kinds[i].name, mean, worst, energy);
        }
}

/* --- in words ------------------------------------------------------------- */

static enum worth_order next_round(struct steering_worth *w,
                                   double seconds,
                                   double skew)
{
    return steering_worth_next(
        w, &(struct worth_round){.seconds = seconds, .skew = skew});
}

static enum worth_order times(struct steering_worth *w,
                              int n,
                              double seconds,
                              double skew)
{
    enum worth_order order = WORTH_STEER;

    for (int i = 0; i < n; i++)
        order = next_round(w, seconds, skew);
    return order;
}

/* n steps are taken, regions taking that long. */
static enum worth_order steer(struct steering_worth *w, int n, double seconds)
{
    enum worth_order order = WORTH_STEER;

    for (int i = 0; i < n && (order == WORTH_STEER || order == WORTH_HOLD);
         i++) {
        order = next_round(w, seconds, 0.02);
        if (order == WORTH_STEER)
            steering_worth_stepped(w, 0.1);
    }
    return order;
}

static void test_small(void)
{
    struct steering_worth w = {.rounds = 0};

    for (int i = 0; i < 100; i++) {
        (void)next_round(&w, 1, 0.001);
        steering_worth_stepped(&w, WORTH_MOVED / 2);
    }
    ok(w.phase == WORTH_BEFORE, "steps of a hair are no matter");
    is_int(times(&w, 5, 0, 0.001), WORTH_STEER,
           "rounds in which no region ends tell nothing");
    ok(w.without.n == 100, "nor do they count");
}

static void test_changed_program(void)
{
    struct steering_worth w = {.rounds = 0};

    (void)steer(&w, 3, 1.0);
    is_int(steer(&w, 20, 2.0), WORTH_PUT_BACK,
           "regions that take longer since: what was tried is put back");
    is_int(times(&w, 2, 2.5, 0.02), WORTH_RESUME,
           "they take much longer still without: it is taken up again at "
           "once");
    is_int(steer(&w, 15, 2.0), WORTH_STEER, "and goes on");
    is_int(steer(&w, 20, 2.5), WORTH_PUT_BACK, "until it does not help");
    is_int(times(&w, 2, 2.0, 0.02), WORTH_STOP, "then it stops");
    is_int(times(&w, 20, 2.0, 0.02), WORTH_HOLD, "and stays so");
    is_int(times(&w, 1, 2.0, 0.09), WORTH_STEER,
           "until the nodes are much further apart");
}

static void test_again(void)
{
    struct steering_worth w = {.rounds = 0};
    int waited[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        is_int(steer(&w, 30, 1.0), WORTH_PUT_BACK, "no help: put back");
        is_int(times(&w, 5, 1.0, 0.02), WORTH_STOP, "and stopped");
        while (next_round(&w, 1.0, 0.02) == WORTH_HOLD)
            waited[i]++;
        steering_worth_stepped(&w, 0.1);
    }
    ok(waited[0] > 50 && waited[1] > 1.9 * waited[0],
       "it is tried again after %d rounds, and then after %d", waited[0],
       waited[1]);
}

/* Others on the machine make one of some rounds ten times as long. */
static void test_disturbed(void)
{
    struct steering_worth w = {.rounds = 0};
    int away = 0;

    for (int i = 0; i < 300; i++) {
        double seconds =
            (w.phase == WORTH_BEFORE ? 2 : 1.5) * (1 + i % 2 * 0.1);
        enum worth_order order =
            next_round(&w, i % 9 == 5 ? 10 * seconds : seconds, 0.02);

        if (order == WORTH_STEER)
            steering_worth_stepped(&w, 0.1);
        away += order != WORTH_STEER;
    }
    ok(away <= 2 && w.phase == WORTH_GOES_ON,
       "rounds that others make long: it goes on, but for %d at the start",
       away);
}

/* --- what nodes show ------------------------------------------------------ */

static void test_promise(void)
{
    struct worth_round round = {.seconds = 1, .skew = 0.1, .promise = 0.3};
    struct steering_worth w = {.rounds = 0};

    is_int(steering_worth_next(&w, &round), WORTH_HOLD,
           "much is promised: after one round it is waited for another one");
    round.seconds = 2;
    is_int(steering_worth_next(&w, &round), WORTH_STEER,
           "then it begins, though iterations are not alike");
    w = (struct steering_worth){.rounds = 0};
    (void)steering_worth_next(&w, &round);
    round = (struct worth_round){.seconds = 4, .promise = 0.05};
    is_int(steering_worth_next(&w, &round), WORTH_HOLD,
           "where little is promised it waits for two that are alike");
}

/* Rounds of steering, in which iterations take so long and nodes gain so much;
 * the last order. */
static enum worth_order show(struct steering_worth *w,
                             int n,
                             double seconds,
                             double gain)
{
    enum worth_order order = WORTH_STEER;

    for (int i = 0; i < n && order == WORTH_STEER; i++) {
        struct worth_round round = {.seconds = seconds * (1 + i % 2 * 0.02),
                                    .skew = 0.02,
                                    .gain = gain};

        order = steering_worth_next(w, &round);
        if (order == WORTH_STEER)
            steering_worth_stepped(w, 0.1);
    }
    return order;
}

static struct steering_worth begun(void)
{
    struct steering_worth w = {.rounds = 0};

    (void)steer(&w, 3, 1.0);
    return w;
}

static void test_follows(void)
{
    struct steering_worth w = begun();

    is_int(show(&w, 100, 1.0, 0.3), WORTH_STEER,
           "iterations tell nothing, nodes follow: it goes on, and nothing is "
           "put back");
    w = begun();
    is_int(show(&w, 100, 1.0, 0.05), WORTH_PUT_BACK,
           "nodes that follow by little: it is put back, to see");
    w = begun();
    is_int(show(&w, 100, 1.3, 0.3), WORTH_PUT_BACK,
           "iterations are clearly longer: what nodes show does not count");
    w = (struct steering_worth){.rounds = 0};
    (void)next_round(&w, 0.1, 0.02);
    steering_worth_stepped(&w, 0.1);
    is_int(show(&w, 100, 1.3, 0.3), WORTH_STEER,
           "than a single one at the program's begin: that is no matter");
}

static void test_unclear(void)
{
    struct steering_worth w = begun();

    w.saves = 1;
    (void)show(&w, 4, 0.99, 0); /* as it begins */
    is_int(show(&w, 4, 1.005, 0), WORTH_STEER,
           "to save, four rounds that others made longer: it is not put back");
    is_int(show(&w, 8, 0.99, 0), WORTH_PUT_BACK,
           "the next ones are not longer: then it is put back, to see");
    while (w.phase == WORTH_LOOKS_BACK)
        (void)next_round(&w, 1.0, 0.02);
    is_int(w.phase, WORTH_GOES_ON, "and goes on");
    w = begun();
    w.saves = 1;
    is_int(show(&w, 9, 1.05, 0), WORTH_PUT_BACK,
           "where they clearly are longer it is put back at once");
}

/* --- what it may cost ----------------------------------------------------- */

/* A round of a second, in which limits cost that part by the nodes' paces. */
static enum worth_order costly(struct steering_worth *w, double loss)
{
    struct worth_round round = {
        .seconds = 0.1, .skew = 0.02, .elapsed = 1, .loss = loss};
    enum worth_order order = steering_worth_next(w, &round);

    if (order == WORTH_STEER)
        steering_worth_stepped(w, 0.1);
    return order;
}

static void test_account(void)
{
    struct steering_worth w = {.saves = 1};
    double depth;
    int rounds = 0;

    ok(steering_worth_depth(&w, 1, 1) == 1, "at first nobody may be lowered");
    for (int i = 0; i < 100; i++)
        (void)costly(&w, 0);
    depth = steering_worth_depth(&w, 1, 1);
    is_near(depth, 1 / 3.0, 1e-6, "after 100 s by what 2 s may cost in one");
    ok(steering_worth_depth(&w, 1, 0.5) < depth
           && steering_worth_depth(&w, 1, INFINITY) == depth,
       "lower where progress goes with less of the limit");
    is_int(costly(&w, 0.5), WORTH_STEER, "half a second is lost");
    ok(steering_worth_depth(&w, 1, 1) > depth, "less may be risked now");
    is_int(costly(&w, 0.6), WORTH_PUT_BACK,
           "more than a second: it is looked back at once");
    while (w.phase == WORTH_LOOKS_BACK)
        (void)costly(&w, 0);
    ok(!w.is_over, "that was not too much");
    for (; !w.is_over && rounds < 100; rounds++)
        (void)costly(&w, 0.3);
    ok(w.is_over && w.lost < WORTH_HARM * w.elapsed,
       "it costs on: it is over, %.2f s of %.0f were lost", w.lost, w.elapsed);
    steering_worth_again(&w);
    is_int(costly(&w, 0), WORTH_HOLD, "for good, also from a new start");
}

int main(void)
{
    test_helps(POWER_PAIR, 0);
    test_helps(POWER_PAIR, 0.02);
    test_helps(POWER_BOOST, 0.02);
    test_does_not_help(0);
    test_does_not_help(0.02);
    test_balanced();
    test_kinds();
    test_account();
    test_small();
    test_changed_program();
    test_again();
    test_disturbed();
    test_promise();
    test_follows();
    test_unclear();
    return done();
}
