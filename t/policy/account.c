#include "policy/account.h"
#include "policy/random.h"
#include "tap.h"

#define N 3

static const struct cost_terms terms = {.wait = 1, .burn = 0.5, .each = 0.1};
static const double speeds[N] = {1.5, 1, 0.5};

struct story { /* of one frame, and what its account is */
    const char *name;
    struct account_piece piece[8];
    double time, ideal, part[ACCOUNT_PARTS];
};

/* With these speeds a piece of n units takes 1 + (0.5 + 0.1 n) / speed; 30
 * units a speed of 1 end at 1 + 0.5 + 1: 3 nodes, 0.5 + 0.1 n = 1.5 speed. */
#define IDEAL 2.5
#define FAST                                                                   \
    {                                                                          \
        .node = 0, .units = 17.5, .sent = 0, .back = 2.5, .seconds = 2.5,      \
        .counts = 1                                                            \
    }
#define MID                                                                    \
    {                                                                          \
        .node = 1, .units = 10, .sent = 0, .back = 2.5, .seconds = 2.5,        \
        .counts = 1                                                            \
    }
#define SLOW                                                                   \
    {                                                                          \
        .node = 2, .units = 2.5, .sent = 0, .back = 2.5, .seconds = 2.5,       \
        .counts = 1                                                            \
    }

static const struct story stories[] = {
    {"one piece each, all at once: ideal", {FAST, MID, SLOW}, 2.5, 2.5, {0}},
    {"all a second on the wire",
     {{0, 17.5, 0, 3.5, 2.5, 1},
      {1, 10, 0, 3.5, 2.5, 1},
      {2, 2.5, 0, 3.5, 2.5, 1}},
     3.5,
     2.5,
     {[ACCOUNT_WIRE] = 1}},
    {"all wait for a second",
     {FAST, MID, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_WAITING] = 1}},
    {"the last starts twice, so the others wait",
     {FAST, MID, {2, 1.5, 0, 2.3, 2.3, 1}, {2, 1, 2.3, 4.5, 2.2, 1}},
     4.5,
     2.5,
     {[ACCOUNT_RESTARTS] = 0.5 / 3 * 2, [ACCOUNT_WAITING] = 2.5 / 3 * 2}},
    {"its second start is hidden behind the first piece",
     {FAST, MID, {2, 1.5, 0, 2.3, 2.3, 1}, {2, 1, 0, 2.5, 2.2, 1}},
     2.5,
     2.5,
     {0}},
    {"a piece fails after a second and is done again",
     {FAST, {1, 10, 0, 1, 1, 0}, {1, 10, 1, 3.5, 2.5, 1}, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_TWICE] = 1. / 3, [ACCOUNT_WAITING] = 2. / 3}},
    {"one is lost with its node, of which nobody knows how long it ran",
     {FAST, {1, 10, 0, 1, 0, 0}, {1, 10, 1, 3.5, 2.5, 1}, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_TWICE] = 1. / 3, [ACCOUNT_WAITING] = 2. / 3}},
    {"one fails after a second, and was half a second on its way",
     {FAST, {1, 10, 0, 1.5, 1, 0}, {1, 10, 1.5, 4, 2.5, 1}, SLOW},
     4,
     2.5,
     {[ACCOUNT_TWICE] = 1. / 3,
      [ACCOUNT_WIRE] = 0.5 / 3,
      [ACCOUNT_WAITING] = 1}},
    {"the last gets nothing, and never starts",
     {{0, 19, 0, 2.6, 2.6, 1}, {1, 11, 0, 2.6, 2.6, 1}},
     2.6,
     2.5,
     {[ACCOUNT_WAITING] = 0.1}},
    {"a command takes a second longer",
     {FAST, {1, 10, 0, 3.5, 3.5, 1}, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_SLOWER] = 1. / 3, [ACCOUNT_WAITING] = 2. / 3}},
};

static struct account_result account_of(const struct story *s,
                                        struct account *a)
{
    account_clear(a);
    for (size_t i = 0; i < 8 && s->piece[i].back > 0; i++)
        account_add(a, &s->piece[i]);
    return account_close(a, &terms, speeds, s->time);
}

static int adds_up(const struct account_result *r)
{
    double sum = r->ideal - r->time;
    int good = r->ideal >= 0 && r->ideal <= r->time
               && (r->equal > 0) == (r->ideal > 0);

    for (int i = 0; i < ACCOUNT_PARTS; i++) {
        sum += r->part[i];
        good &= r->part[i] >= 0;
    }
    return good && fabs(sum) <= 1e-9 * r->time;
}

static void test_stories(void)
{
    struct account *a = account_create(N);

    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        struct account_result r = account_of(&stories[i], a);

        ok(adds_up(&r), "%s: it adds up", stories[i].name);
        is_near(r.ideal, stories[i].ideal, 1e-9, "ideal");
        for (int p = 0; p < ACCOUNT_PARTS; p++)
            is_near(r.part[p], stories[i].part[p], 1e-9,
                    account_name((enum account_part)p));
    }
    account_destroy(a);
}

/* --- ideal and equal parts ------------------------------------------------ */

static void test_ideal(void)
{
    static const struct story all = {.piece = {FAST, MID, SLOW}, .time = 4};
    static const double parts[N] = {1. / 2, 1. / 3, 1. / 6};
    struct account *a = account_create(N);
    struct account_result r = account_of(&all, a), sum = {0};

    is_near(r.time, 4, 0, "the time that was given");
    is_near(r.equal, 4, 1e-9, "ten units each: the slowest ends after 4 s");
    is_near(account_efficiency(&r), 2.5 / 4, 1e-9, "efficiency");
    account_split(a, parts);
    is_near(account_of(&all, a).equal, 3, 1e-9,
            "a slowest with a part that is cheap ends sooner");
    account_sum(&sum, &r);
    account_sum(&sum, &r);
    is_near(sum.time, 8, 1e-9, "two frames");
    is_near(sum.ideal, 5, 1e-9, "ideal twice");
    is_near(sum.equal, 8, 1e-9, "equal parts twice");
    is_near(sum.part[ACCOUNT_WAITING], 3, 1e-9, "and all that was waited");
    account_destroy(a);
}

static void test_nothing(void)
{
    static const double nobody[N] = {0};
    static const struct account_piece in_vain = {1, 10, 0.5, 3, 2, 0};
    struct account *a = account_create(N);
    struct account_result r = account_close(a, &terms, speeds, 3);

    is_near(r.ideal, 0, 0, "what is not done takes no time at best");
    is_near(r.equal, 0, 0, "nor in equal parts");
    is_near(r.part[ACCOUNT_WAITING], 3, 1e-9, "all is waiting");
    ok(account_efficiency(&r) < 0, "there is no efficiency of nothing");
    account_add(a, &in_vain);
    r = account_close(a, &terms, speeds, 3);
    is_near(r.part[ACCOUNT_TWICE], 2. / 3, 1e-9,
            "but for what one has done in vain");
    is_near(r.part[ACCOUNT_WIRE], 0.5 / 3, 1e-9, "and its way");
    is_near(r.part[ACCOUNT_WAITING], 3 - 2.5 / 3, 1e-9, "it adds up");
    r = account_close(a, &terms, nobody, 3);
    is_near(r.part[ACCOUNT_WAITING], 3, 1e-9, "without a node, too");
    r = account_close(a, &terms, speeds, 0);
    ok(account_efficiency(&r) < 0, "nor of no time");
    account_destroy(a);
}

static void test_unknown(void)
{
    static const struct story all = {.piece = {FAST, MID, SLOW}};
    static const struct cost_terms unknown = {.wait = 1};
    struct account *a = account_create(N);
    struct account_result r;

    (void)account_of(&all, a);
    r = account_close(a, &unknown, speeds, 3);
    is_near(r.ideal, 3, 0, "of costs that are not known, neither is ideal");
    account_destroy(a);
}

/* All commands took half of what they should: so would ideal have. */
static void test_lowered(void)
{
    static const struct story all = {.piece = {{0, 17.5, 0, 1.25, 1.25, 1},
                                               {1, 10, 0, 1.25, 1.25, 1},
                                               {2, 2.5, 0, 1.25, 1.25, 1}},
                                     .time = 2};
    struct account *a = account_create(N);
    struct account_result r = account_of(&all, a);

    is_near(r.ideal, 1.25, 1e-9, "costs that are too high do not flatter");
    is_near(r.equal, 2, 1e-9, "neither evenstep nor equal parts");
    is_near(r.part[ACCOUNT_WAITING], 0.75, 1e-9, "the rest is as ever");
    ok(adds_up(&r), "and adds up");
    account_destroy(a);
}

/* Better than ideal: something else was wrong, but not the work. */
static void test_too_good(void)
{
    static const struct story all = {.piece = {{0, 17.5, 0, 1, 1, 1},
                                               {1, 10, 0, 1, 4, 1},
                                               {2, 2.5, 0, 1, 4, 1}},
                                     .time = 1};
    struct account *a = account_create(N);
    struct account_result r = account_of(&all, a);

    ok(r.ideal <= 1 && adds_up(&r), "ideal is never above the time");
    account_destroy(a);
}

/* --- who takes part ------------------------------------------------------- */

static void test_part_takers(void)
{
    /* 10 units a node of speed 1 and 2: ideal 1 + (0.5 + 0.1 n) / speed. */
    static const double two[N] = {2, 1, 0};
    static const struct account_piece p[] = {{0, 25, 0, 2.5, 2.5, 1},
                                             {1, 10, 0, 2.5, 2.5, 1}};
    /* The slow one's start alone takes longer than ideal. */
    static const double slow[N] = {2, 1, 0.1};
    static const struct account_piece late = {2, 1, 0, 7, 7, 1};
    struct account *a = account_create(N);
    struct account_result r;

    account_add(a, &p[0]);
    account_add(a, &p[1]);
    r = account_close(a, &terms, two, 2.5);
    is_near(r.ideal, 2.5, 1e-9, "a node without a speed is not there");
    is_near(r.equal, 1 + 0.5 + 1.75, 1e-9, "nor does it have an equal part");
    r = account_close(a, &terms, slow, 2.5);
    is_near(r.ideal, 2.5, 1e-9, "one too slow to start is done without");
    ok(adds_up(&r), "and its waiting is nobody's loss");
    account_add(a, &late);
    r = account_close(a, &terms, slow, 7);
    is_near(r.ideal, 1 + 0.5 * 2 / 3 + 3.6 / 3, 1e-9,
            "what it does all the same others could have done");
    ok(adds_up(&r), "so all have waited for it");
    is_near(r.part[ACCOUNT_WAITING], 7 - r.ideal, 1e-9, "and nothing else");
    account_destroy(a);
}

/* A node that got nothing could have made one start. */
static void test_one_left_out(void)
{
    static const struct account_piece p[] = {{0, 17.5, 0, 2.5, 2.5, 1},
                                             {1, 12.5, 0, 2.75, 2.75, 1}};
    struct account *a = account_create(N);
    struct account_result r;

    account_add(a, &p[0]);
    account_add(a, &p[1]);
    r = account_close(a, &terms, speeds, 2.75);
    is_near(r.ideal, 2.5, 1e-9, "all three could have ended at 2.5");
    is_near(r.part[ACCOUNT_WAITING], 0.25, 1e-9, "it was waited");
    ok(adds_up(&r), "and nothing else");
    account_destroy(a);
}

/* Starts wait two seconds longer on one: it is as if it were free later. */
static void test_lag(void)
{
    static const double lag[N] = {0, 2, 0}, none[N] = {0};
    static const struct account_piece p[] = {
        {0, 20, 0, 3, 3, 1}, {1, 5, 0, 4, 4, 1}, {2, 5, 0, 3, 3, 1}};
    struct account *a = account_create(N);
    struct account_result r;

    for (size_t i = 0; i < N; i++)
        account_add(a, &p[i]);
    account_lag(a, lag);
    r = account_close(a, &terms, speeds, 4);
    is_near(r.ideal, 3, 1e-9,
            "the others would be done before that one has started");
    r = account_close(a, &terms, speeds, 40);
    ok(adds_up(&r), "what it did all the same: it adds up");
    is_near(r.equal, 1 + 2 + 0.5 + 1, 1e-9, "with equal parts it is the last");
    account_lag(a, none);
    r = account_close(a, &terms, speeds, 4);
    is_near(r.ideal, 2.5, 1e-9, "without a lag it is as it was");
    account_destroy(a);
}

/* --- the clock ------------------------------------------------------------ */

static void test_clock(void)
{
    /* The node has two at once, and the first came from the frame before. */
    static const double one[1] = {1};
    static const struct account_piece p[] = {{0, 10, -3, 2, 2.5, 1},
                                             {0, 10, 1, 4.5, 2.5, 1},
                                             {0, 10, 3, 5, 1, 0},
                                             {0, 10, 6, 9, 2.5, 1}};
    struct account *a = account_create(1);
    struct account_result r;

    for (size_t i = 0; i < 4; i++)
        account_add(a, &p[i]);
    r = account_close(a, &terms, one, 10);
    ok(adds_up(&r),
       "pieces of a frame before, at once, and failed: it adds up");
    is_near(r.part[ACCOUNT_TWICE], 0.5, 1e-9,
            "of what failed only when nothing else ran");
    is_near(r.part[ACCOUNT_WIRE], 0.5, 1e-9, "the wire is what is left");
    is_near(r.part[ACCOUNT_WAITING], 2, 1e-9, "two seconds of nothing");
    is_near(r.part[ACCOUNT_RESTARTS], 2.8, 1e-9, "and two starts more");
    account_destroy(a);
}

/* --- anything ------------------------------------------------------------- */

static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * random_unit(r);
}

/* A frame of a made-up run: pieces one after the other, some in vain. */
static double tell(struct account *a,
                   const struct cost_terms *t,
                   const double speed[N],
                   const double lag[N],
                   struct rng *r,
                   double noise)
{
    double end = 0;

    for (size_t i = 0; i < N; i++) {
        double at = between(r, 0, 1);

        for (int k = random_below(r, 4); k > 0; k--) {
            struct account_piece p = {.node = i,
                                      .units = between(r, 1, 50),
                                      .sent = at,
                                      .counts = random_below(r, 4)};

            p.seconds =
                (t->wait + lag[i] + (t->burn + t->each * p.units) / speed[i])
                * exp(noise * random_normal(r));
            p.back = at + p.seconds + between(r, 0, 0.3);
            at = p.back + (random_boolean(r) ? 0 : between(r, 0, 2));
            end = fmax(end, p.back);
            account_add(a, &p);
        }
    }
    return end;
}

static void test_anything(void)
{
    struct account *a = account_create(N);
    int sums = 1, is_least = 1, has_all = 1;
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 9);
    for (int round = 0; round < 5000; round++) {
        double noise = random_boolean(&r) ? 0 : between(&r, 0, 1);
        struct cost_terms t = {between(&r, 0, 1), between(&r, 0, 1),
                               between(&r, 0.001, 0.2)};
        const double lag[N] = {0, random_boolean(&r) ? between(&r, 0, 2) : 0};
        struct account_result x;
        double time;

        account_clear(a);
        account_lag(a, lag);
        time = tell(a, &t, speeds, lag, &r, noise);
        if (!(time > 0))
            continue;
        x = account_close(a, &t, speeds, time);
        sums &= adds_up(&x);
        is_least &= x.ideal <= x.equal * (1 + 1e-9) || x.ideal >= time;
        if (!(noise > 0))
            has_all &= x.part[ACCOUNT_SLOWER] < 1e-9;
    }
    ok(sums, "whatever happens, it adds up, and nothing is below 0");
    ok(is_least, "ideal is never above equal parts");
    ok(has_all, "without noise no command is slower than it should be");
    account_destroy(a);
}

int main(void)
{
    test_stories();
    test_ideal();
    test_nothing();
    test_unknown();
    test_lowered();
    test_too_good();
    test_part_takers();
    test_one_left_out();
    test_lag();
    test_clock();
    test_anything();
    return done();
}
