/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who corrects what nodes' times differ by: rules, and a simulation of nodes with
 * a cap whose frames are cut by the policy `even`, whose limits are moved by
 * pairs, or both.
 */
#include "policy/handover.h"
#include "policy/dispatch.h"
#include "policy/even.h"
#include "policy/power.h"
#include "policy/random.h"
#include "policy/shares.h"
#include "policy/static.h"
#include "policy/threshold.h"
#include "tap.h"

#define N      4
#define FRAMES 60
#define SEEDS  20
#define CAP    500000 /* the limit of each node; the sum is the budget */

/* --- the rules ------------------------------------------------------------ */

static int frame(struct handover *h,
                 uint64_t had[2],
                 uint64_t a,
                 double a_seconds,
                 uint64_t b,
                 double b_seconds)
{
    const struct handover_node node[2] = {{a, a_seconds}, {b, b_seconds}};

    return handover_frame(h, had, node, 2);
}

static int frames(struct handover *h, uint64_t had[2], int n)
{
    int turn = -1;

    for (int i = 0; i < n; i++)
        turn = frame(h, had, 1, 1, 2, 2);
    return turn;
}

static void test_turns(void)
{
    struct handover h = {0};
    uint64_t had[2] = {0};

    is_int(frames(&h, had, HANDOVER_ALIKE - 1), 0,
           "the work has the first turn");
    is_int(frames(&h, had, 1), 1,
           "frames cut alike, one node last: the limits have theirs");
    is_int(frame(&h, had, 1, 1.02, 2, 2), 1, "and keep it");
    is_int(frame(&h, had, 2, 2, 1, 1), 0, "until a frame is cut otherwise");
    is_int(frames(&h, had, 2 * HANDOVER_ALIKE - 1), 0,
           "then it takes twice as many");
    is_int(frames(&h, had, 1), 1, "but no more");
    is_int(frame(&h, had, 1, 1, 2, 8), 0,
           "a node that has changed: the turn is the work's");
    for (int i = 0; i < 9; i++) {
        (void)frames(&h, had, HANDOVER_MOST);
        handover_back(&h);
    }
    is_int(frames(&h, had, HANDOVER_MOST - 1), 0, "so it is if a node goes");
    is_int(frames(&h, had, 1), 1, "it takes a certain number at last");
}

static void test_no_turn(void)
{
    struct handover h = {0};
    uint64_t had[2] = {0};
    int turns = 0;

    for (int i = 0; i < 20; i++)
        turns += frame(&h, had, 1, 1, 1, 1.02);
    is_int(turns, 0, "nothing is handed over where all come together");
    for (int i = 0; i < 20; i++)
        turns += frame(&h, had, 1, i % 2 ? 1 : 2, 1, 1.5);
    is_int(turns, 0, "nor where it is not the same node that comes last");
    for (int i = 0; i < 20; i++)
        turns += frame(&h, had, 1, 1, 2 + (uint64_t)i % 2, 2);
    is_int(turns, 0, "nor while work moves");
    for (int i = 0; i < 20; i++)
        turns += frame(&h, had, 0, 0, 1, 1);
    is_int(turns, 0, "nor where only one node works");
    for (int i = 0; i < 20; i++)
        turns += frame(&h, had, 0, 0, 0, NAN);
    is_int(turns, 0, "nor where none does");
}

static void test_speed(void)
{
    ok(fabs(handover_speed(3, 2, 1) - 1.5) < 1e-12, "in proportion");
    ok(fabs(handover_speed(8, 1, 1.0 / 3) - 2) < 1e-12, "by its cube root");
    ok(fabs(handover_speed(8, 1, NAN) - 1) < 1e-12
           && fabs(handover_speed(8, 1, -1) - 1) < 1e-12
           && fabs(handover_speed(8, 1, 7) - 8) < 1e-12,
       "an exponent that cannot be is none");
    ok(fabs(handover_speed(0, 1, 1) - 1) < 1e-12
           && fabs(handover_speed(1, 0, 1) - 1) < 1e-12,
       "no limit: no difference");
}

/* --- what pieces cost ----------------------------------------------------- */

/* Node 0 has done its half in the half of the time, by its limit. */
static double speed_learned(const double speed[2])
{
    struct cost *cost = cost_create(2, NULL);
    struct dispatch *d = dispatch_create(2, 1, DISPATCH_BY_COST);
    static const double load[2] = {50, 50};
    const struct dispatch_piece *p;
    double faster;

    if (!cost || !d)
        bail("no memory");
    dispatch_set_policy(d, &static_kind, NULL, load);
    dispatch_set_cost(d, cost);
    dispatch_set_speeds(d, speed);
    if (dispatch_begin(d, (struct slice){0, 100}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no frame");
    while ((p = dispatch_next(d)) != NULL) {
        double units = (double)(p->units.end - p->units.begin);

        dispatch_answered(d, p->id, 100, p->node == 0 ? units / 2 : units, 0);
    }
    cost_fit(cost);
    faster = cost_speed(cost, 0) / cost_speed(cost, 1);
    dispatch_destroy(d);
    cost_destroy(cost);
    return faster;
}

static void test_costs(void)
{
    static const double twice[2] = {2, 1};

    ok(speed_learned(NULL) > 1.5, "a node that is faster is seen to be: %.2f",
       speed_learned(NULL));
    ok(fabs(speed_learned(twice) - 1) < 0.01,
       "but not if its limit has made it so");
}

/* --- both, simulated ------------------------------------------------------ */

enum who { NOBODY, WORK, LIMITS, BOTH, IN_TURN };

struct scenario {
    const char *name;
    double speed[N]; /* units a second at the cap */
    uint64_t units;
    double exponent; /* of speed in the limit */
    double noise;
    int slows;    /* at this frame node 0 has half of its speed; 0: never */
    int is_fixed; /* there is nothing to give: the cap is the ceiling */
};

static const struct scenario scenarios[] = {
    {"equal nodes", {1, 1, 1, 1}, 400, 1, 0.02, 0, 0},
    {"unequal nodes", {0.625, 1, 1, 1}, 400, 1, 0.02, 0, 0},
    {"unequal nodes, power by its cube root",
     {0.625, 1, 1, 1},
     400,
     1.0 / 3,
     0.02,
     0,
     0},
    {"a node slows down midway", {1, 1, 1, 1}, 400, 1, 0.02, 30, 0},
    {"coarse grain", {1, 1, 1, 1}, 5, 1, 0.02, 0, 0},
    {"coarse grain, by the cube root", {1, 1, 1, 1}, 5, 1.0 / 3, 0.02, 0, 0},
    {"coarse grain, unequal nodes", {0.625, 1, 1, 1}, 9, 1, 0.02, 0, 0},
    {"coarse grain, a node slows down midway", {1, 1, 1, 1}, 5, 1, 0.02, 30, 0},
    {"one unit a node, unequal nodes", {0.625, 1, 1, 1}, 4, 1, 0.02, 0, 0},
    {"much noise", {1, 1, 1, 1}, 40, 1, 0.1, 0, 0},
    {"unequal nodes, no cap", {0.625, 1, 1, 1}, 400, 1, 0.02, 0, 1},
    {"coarse grain, no cap", {1, 1, 1, 1}, 5, 1, 0.02, 0, 1},
};

struct cluster {
    const struct scenario *s;
    enum who who;
    struct rng rng;
    void *policy;
    double load[N], took[N], factor[N];
    struct slice cut[N];
    struct power_node node[N];
    struct threshold_noise noise;
    struct handover turn;
    uint64_t had[N];
};

static void *new_policy(void)
{
    struct metric metric[N] = {{.JL = 1}, {.JL = 1}, {.JL = 1}, {.JL = 1}};
    struct profile profile = {{1}};
    double value[POLICY_PARAMS];
    struct policy_setup setup = {N, metric, &profile, value};
    void *state = malloc(even_kind.state_bytes(N, NULL));

    policy_defaults(&even_kind, value);
    if (!state || even_kind.init(state, &setup) < 0)
        bail("no policy");
    return state;
}

static void begin(struct cluster *c, const struct scenario *s, enum who who)
{
    *c = (struct cluster){.s = s, .who = who, .policy = new_policy()};
    for (size_t i = 0; i < N; i++) {
        c->load[i] = 25;
        c->node[i] =
            (struct power_node){.limit = CAP,
                                .floor = s->is_fixed ? CAP : CAP / 4,
                                .ceiling = s->is_fixed ? CAP : 2 * CAP};
    }
}

/* Returns the frame's seconds. */
static double run_frame(struct cluster *c, int number)
{
    double last = 0;

    if (shares_cut(0, c->s->units, 1, c->load, c->cut, N) < 0)
        bail("no cut");
    for (size_t i = 0; i < N; i++) {
        double units = (double)(c->cut[i].end - c->cut[i].begin);
        int is_slow = i == 0 && c->s->slows > 0 && number >= c->s->slows;

        c->factor[i] = handover_speed(c->node[i].limit, CAP, c->s->exponent);
        c->took[i] = units / c->factor[i] / c->s->speed[i] * (is_slow ? 2 : 1)
                     * exp(c->s->noise * random_normal(&c->rng));
        last = fmax(last, c->took[i]);
    }
    return last;
}

static void move_limits(struct cluster *c)
{
    static const struct power_rule pair = {
        .variant = POWER_PAIR, .bound = 0.0002, .band = 0.005, .gain = 1};
    char room[1024];

    for (size_t i = 0; i < N; i++)
        c->node[i].progress = c->took[i] > 0 ? 1 / c->took[i] : 0;
    (void)power_step(&pair, c->node, N, room);
}

/* As with its limit of the start, if that is known. */
static double seconds(const struct cluster *c, size_t i)
{
    return c->who == IN_TURN ? c->took[i] * c->factor[i] : c->took[i];
}

static void move_work(struct cluster *c, int may_cut)
{
    static const struct threshold_rule by_noise = {.unit = THRESHOLD_AUTO};
    struct completion part[N];
    double first = INFINITY, last = 0, limit;

    for (size_t i = 0; i < N; i++) {
        part[i] = (struct completion){.units = c->cut[i].end - c->cut[i].begin,
                                      .seconds = seconds(c, i)};
        if (part[i].units > 0) {
            first = fmin(first, part[i].seconds);
            last = fmax(last, part[i].seconds);
        }
    }
    limit = threshold_seconds(&by_noise, &c->noise, part, N, 1);
    threshold_feedback(&c->noise, part, N);
    (void)even_kind.adjust(c->policy, part, may_cut && last - first > limit,
                           c->load);
}

/* Limits move: whose turn is it? */
static int take_turns(struct cluster *c)
{
    struct handover_node node[N];

    for (size_t i = 0; i < N; i++)
        node[i] = (struct handover_node){c->cut[i].end - c->cut[i].begin,
                                         seconds(c, i)};
    if (handover_frame(&c->turn, c->had, node, N))
        return 1;
    for (size_t i = 0; i < N; i++)
        c->node[i].limit = CAP;
    return 0;
}

static double run_once(const struct scenario *s, enum who who, uint64_t seed)
{
    struct cluster c;
    double total = 0;

    begin(&c, s, who);
    random_init(&c.rng, GENERATOR_LCG32, seed);
    for (int i = 0; i < FRAMES; i++) {
        int by_limits = who == LIMITS || who == BOTH;

        total += run_frame(&c, i);
        if (who == IN_TURN)
            by_limits = take_turns(&c);
        if (who != NOBODY && who != LIMITS)
            move_work(&c, who == BOTH || !by_limits);
        if (by_limits)
            move_limits(&c);
    }
    free(c.policy);
    return total / FRAMES;
}

/* Of all seeds. */
static double run(const struct scenario *s, enum who who)
{
    double total = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        total += run_once(s, who, seed);
    return total / SEEDS;
}

static void test_scenarios(void)
{
    double worst_of_both = 0;

    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *s = &scenarios[i];
        double work = run(s, WORK), limits = run(s, LIMITS);
        double both = run(s, BOTH), turns = run(s, IN_TURN);
        double best = fmin(work, limits);

        printf("# %s: none %.4g, work %.4g, limits %.4g, both at once %.4g, in "
               "turn %.4g s a frame\n",
               s->name, run(s, NOBODY), work, limits, both, turns);
        ok(turns <= 1.02 * best, "%s: in turn as fast as the better", s->name);
        worst_of_both = fmax(worst_of_both, both / best);
    }
    ok(worst_of_both > 1.03, "both at once are slower somewhere: by %.0f %%",
       100 * (worst_of_both - 1));
}

int main(void)
{
    test_turns();
    test_no_turn();
    test_speed();
    test_costs();
    test_scenarios();
    return done();
}
