/* SPDX-License-Identifier: BSD-2-Clause */
/* The moving average, against one that keeps every bundle. */
#include "policy/sample_cache.h"
#include "fenced.h"
#include "tap.h"

#define BUNDLES 400

static void test_slots(void)
{
    static const struct {
        int32_t capacity;
        size_t slots;
    } rows[] = {{INT32_MIN, 1},
                {0, 1},
                {2, 1},
                {3, 2},
                {4, 3},
                {SAMPLES_MOST, SAMPLES_MOST - 1},
                {SAMPLES_MOST + 1, SAMPLES_MOST},
                {SAMPLES_MOST + 2, SAMPLES_MOST},
                {INT32_MAX, SAMPLES_MOST}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(sample_cache_slots(rows[i].capacity) == rows[i].slots,
           "a cache of %jd tasks holds %zu bundles at most",
           (intmax_t)rows[i].capacity, rows[i].slots);
}

/* Bundles of 1 to 5 tasks, 1 to 7 ns each, of which whole ones leave until the
   new one fits beside the phantom task; the new one always stays. */
static int follows(int32_t capacity, size_t stride)
{
    struct sample_cache *c = malloc(sizeof *c);
    struct sample *ring =
        calloc(sample_cache_slots(capacity) * stride, sizeof *ring);
    int32_t tasks[BUNDLES];
    double each[BUNDLES], before = 9;
    size_t first = 0;
    int same;

    if (!c || !ring)
        bail("no memory");
    sample_cache_init(c, capacity, before);
    same = c->mean >= before && c->mean <= before;
    for (size_t n = 0; n < BUNDLES && same; n++) {
        int64_t count = 1;
        double total = 0;

        tasks[n] = 1 + (int32_t)(n * 7 % 5);
        each[n] = (double)(1 + n * n % 7);
        sample_cache_add(c, ring, stride, tasks[n], tasks[n] * each[n]);
        for (size_t i = first; i <= n; i++)
            count += tasks[i];
        for (; first < n && count > capacity; first++)
            count -= tasks[first];
        for (size_t i = first; i <= n; i++)
            total += tasks[i] * each[i];
        same = fabs(c->mean - total / (double)count) < 1e-12
               && !(c->previous < before) && !(c->previous > before)
               && c->count == count;
        before = c->mean;
    }
    free(c);
    free(ring);
    return same;
}

static void test_follows(void)
{
    static const int32_t capacities[] = {-5, 0, 1, 2,  3,   4,
                                         5,  6, 7, 11, 100, 2000};

    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++)
        ok(follows(capacities[i], 1) && follows(capacities[i], 3),
           "the average of the last %jd tasks", (intmax_t)capacities[i]);
}

/* The ring is full before the tasks are as many as may be. */
static void test_most(void)
{
    struct sample_cache *c = malloc(sizeof *c);
    struct sample *ring = calloc(SAMPLES_MOST, sizeof *ring);

    if (!c || !ring)
        bail("no memory");
    sample_cache_init(c, INT32_MAX, 1);
    for (int i = 0; i < 2 * SAMPLES_MOST; i++)
        sample_cache_add(c, ring, 1, 1, i < SAMPLES_MOST ? 1 : 3);
    is_int((intmax_t)c->held, SAMPLES_MOST, "no more than there is room for");
    is_near(c->mean, 3.0 * SAMPLES_MOST / (SAMPLES_MOST + 1), 1e-12,
            "the oldest are forgotten");
    free(c);
    free(ring);
}

int main(void)
{
    fence_on = 1;
    test_slots();
    test_follows();
    test_most();
    return done();
}
