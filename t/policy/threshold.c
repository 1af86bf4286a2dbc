/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/threshold.h"
#include "fenced.h"
#include "policy/even.h"
#include "policy/shares.h"
#include "tap.h"

#define NODES  4096
#define FRAMES 400

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return ((double)(*seed >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller's: the tails matter with many nodes. */
static double normal(uint64_t *seed)
{
    double r = sqrt(-2 * log(uniform(seed)));

    return r * cos(2 * 3.14159265358979 * uniform(seed));
}

static double difference(const struct completion c[], size_t n)
{
    double first = c[0].seconds, last = first;

    for (size_t i = 1; i < n; i++) {
        first = fmin(first, c[i].seconds);
        last = fmax(last, c[i].seconds);
    }
    return last - first;
}

static const struct threshold_rule by_itself = {THRESHOLD_AUTO, 0};

static void test_by_hand(void)
{
    static struct threshold_noise none;
    const struct completion c[] = {{10, 1, 0, 0, 0},
                                   {10, 3, 0, 0, 0},
                                   {0, 99, 0, 0, 0},
                                   {10, 5, 0, 0, 0},
                                   {10, 0, 0, 0, 0}};
    const struct threshold_rule seconds = {THRESHOLD_SECONDS, 0.25};
    const struct threshold_rule percent = {THRESHOLD_PERCENT, 50};

    is_near(threshold_seconds(&seconds, &none, c, 4, 1), 0.25, 0,
            "seconds are taken as they are");
    is_near(threshold_seconds(&percent, &none, c, 5, 1), 1.5, 1e-15,
            "percent are of the mean of those that had a slice");
    is_near(threshold_seconds(&percent, &none, c + 2, 1, 1), 0, 0,
            "of no mean nothing");
    is_near(threshold_seconds(&by_itself, &none, c, 4, 2), 1, 1e-15,
            "auto, at first: two units, the grain, of the slowest");
}

/* Of three nodes one has no slice in the second frame: the others' times per
   unit have changed by a factor of 1 and of e^0.1. */
static void test_changes(void)
{
    struct threshold_noise *noise = calloc(1, sizeof *noise);
    struct completion *first = fenced_copy(
        (struct completion[]){
            {1, 1, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 1, 0, 0, 0}},
        3 * sizeof *first);
    struct completion *second = fenced_copy(
        (struct completion[]){
            {2, 2, 0, 0, 0}, {1, exp(0.1), 0, 0, 0}, {0, 1, 0, 0, 0}},
        3 * sizeof *second);
    const double deviation = 1.4826 / sqrt(2) * 0.1 * sqrt(0.5);

    is_near(threshold_deviation(noise), 0, 0, "at first nothing is known");
    threshold_feedback(noise, first, 3);
    is_near(threshold_deviation(noise), 0, 0, "of one frame nothing is");
    threshold_feedback(noise, second, 3);
    is_near(threshold_deviation(noise), deviation, 1e-12,
            "two changes make a noise");
    is_near(threshold_seconds(&by_itself, noise, second, 1, 1), 1, 1e-12,
            "one node's difference is no noise");
    is_near(
        threshold_seconds(&by_itself, noise, second, 3, 1),
        fmax(2 * sqrt(2 * log(2.7)) * deviation * (2 + exp(0.1)) / 2, exp(0.1)),
        1e-12, "the range of two, of their mean");
    second[1].units = 0;
    threshold_feedback(noise, second, 3);
    is_int((intmax_t)noise->frames, 1, "one change has no median");
    free(noise);
    free(first);
    free(second);
}

/* More nodes than are watched: these are spread over all. */
static void test_watched(void)
{
    enum { MANY = 3 * THRESHOLD_NODES };
    struct completion *c = calloc(MANY, sizeof *c);
    static struct threshold_noise noise;

    for (size_t i = 0; i < MANY; i++)
        c[i] = (struct completion){1, i % 3 == 0 ? 1 : 1e9, 0, 0, 0};
    threshold_feedback(&noise, c, MANY);
    for (size_t i = 0; i < MANY; i++)
        c[i].seconds = i % 3 == 0 ? 1 + (int)(i % 2) : 7;
    is_int((intmax_t)noise.changes[0] + (noise.change[0][0] != 0), 0,
           "of the first frame there is no change");
    threshold_feedback(&noise, c, MANY);
    is_int((intmax_t)noise.changes[0], THRESHOLD_NODES - 1,
           "all that are watched have changed");
    is_near(threshold_deviation(&noise), 1.4826 / sqrt(2) * log(2), 1e-12,
            "every third node is watched, half of them twice as slow");
    free(c);
}

/* Equal nodes, noise alone: the deviation is found, and now and then a frame
   is adjusted. */
static void test_noise(size_t n, double deviation, double drift)
{
    static struct completion c[NODES];
    static struct threshold_noise noise;
    uint64_t seed = n;
    double sum = 0;
    int over = 0, known = 0;

    memset(&noise, 0, sizeof noise);
    for (int f = 0; f < FRAMES; f++) {
        double harder = 1 + drift * (f % 7);

        for (size_t i = 0; i < n; i++)
            c[i] = (struct completion){
                1000, harder * exp(deviation * normal(&seed)), 0, 0, 0};
        if (f >= THRESHOLD_FRAMES) {
            sum += threshold_deviation(&noise);
            over += difference(c, n)
                    > threshold_seconds(&by_itself, &noise, c, n, 1);
            known++;
        }
        threshold_feedback(&noise, c, n);
    }
    ok(fabs(sum / known / deviation - 1) < 0.15,
       "%zu nodes: noise of %g is found (%.4f)", n, deviation, sum / known);
    ok(over >= known / 100 && over <= known * 15 / 100,
       "%zu nodes: neither never nor always (%d of %d frames)", n, over, known);
}

/* What is no noise: one node slower, one restless, some without a slice. */
static void test_robust(void)
{
    enum { N = 8 };
    struct completion c[N];
    static struct threshold_noise noise;
    uint64_t seed = 5;
    double before, after;

    for (int f = 0; f < 40; f++) {
        for (size_t i = 0; i < N; i++)
            c[i] =
                (struct completion){1000, exp(0.02 * normal(&seed)), 0, 0, 0};
        c[3].seconds = exp(0.5 * normal(&seed));
        if (f % 3 == 0)
            c[5].units = 0;
        threshold_feedback(&noise, c, N);
    }
    before = threshold_deviation(&noise);
    ok(before > 0.01 && before < 0.04, "a restless node is not all (%.4f)",
       before);
    c[3].seconds = 1;
    c[5].units = 1000;
    c[0].seconds = 2;
    ok(difference(c, N) > threshold_seconds(&by_itself, &noise, c, N, 1),
       "a node at half speed is seen at once");
    threshold_feedback(&noise, c, N);
    after = threshold_deviation(&noise);
    ok(after < 1.3 * before, "and does not count as noise (%.4f)", after);
}

/* With the default policy: how often loads change once they are right. */
static void test_with_policy(double deviation)
{
    enum { N = 4, FRAMES_HERE = 200 };
    const double speed[N] = {80, 40, 20, 10};
    const struct profile p = {{1}};
    struct metric m[N], *fill = m;
    double value[POLICY_PARAMS], load[N];
    struct policy_setup setup = {N, m, &p, value};
    struct threshold_noise noise = {0};
    struct completion c[N] = {{0}};
    struct slice s[N];
    uint64_t seed = 11;
    void *state = malloc(even_kind.state_bytes(N, NULL));
    int over = 0;
    double efficiency = 0;

    for (size_t i = 0; i < N; i++)
        (fill++)->JL = 25;
    policy_defaults(&even_kind, value);
    if (!state || even_kind.init(state, &setup) < 0)
        bail("init failed");
    even_kind.loads(state, load);
    for (int f = 0; f < FRAMES_HERE; f++) {
        double sum = 0, last = 0;
        int now;

        (void)shares_cut(0, 100000, 1, load, s, N);
        for (int i = 0; i < N; i++) {
            c[i].units = s[i].end - s[i].begin;
            c[i].seconds =
                (double)c[i].units / speed[i] * exp(deviation * normal(&seed));
            sum += c[i].seconds;
            last = fmax(last, c[i].seconds);
        }
        now = difference(c, N) > threshold_seconds(&by_itself, &noise, c, N, 1);
        threshold_feedback(&noise, c, N);
        (void)even_kind.adjust(state, c, now, load);
        over += f >= 10 && now;
        efficiency += f >= 3 ? sum / (N * last) : 0;
    }
    ok(over > 0 && over < (FRAMES_HERE - 10) / 4,
       "noise %g: adjusted in %d of %d frames", deviation, over,
       FRAMES_HERE - 10);
    ok(efficiency / (FRAMES_HERE - 3) > 1 - 2.5 * deviation,
       "noise %g: mean efficiency %.3f", deviation,
       efficiency / (FRAMES_HERE - 3));
    free(state);
}

int main(void)
{
    fence_on = 1;
    test_by_hand();
    test_changes();
    test_watched();
    fence_on = 0;
    test_noise(2, 0.05, 0);
    test_noise(4, 0.05, 0.5);
    test_noise(10, 0.01, 0);
    test_noise(100, 0.05, 0);
    test_noise(NODES, 0.02, 0.1);
    test_robust();
    test_with_policy(0.01);
    test_with_policy(0.05);
    return done();
}
