/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which slices of a journal count: small ones drawn at random, held against
 * the rule as it is written.
 */
#include "launcher/run/kept.h"
#include "policy/random.h"
#include "tap.h"

#define MOST 12

static int overlaps(const struct kept *a, const struct kept *b)
{
    return a->frame == b->frame && a->units.begin < b->units.end
           && b->units.begin < a->units.end;
}

/* By the rule: from the last one on, each that is apart from those chosen. */
static size_t by_rule(const struct kept *k, size_t n, char counts[])
{
    size_t there = 0;

    memset(counts, 0, n);
    for (size_t i = n; i-- > 0;) {
        counts[i] = 1;
        for (size_t l = i + 1; l < n; l++)
            if (counts[l] && overlaps(&k[i], &k[l]))
                counts[i] = 0;
        there += (size_t)counts[i];
    }
    return there;
}

static void draw(struct rng *rng, struct kept *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t begin = (uint64_t)random_below(rng, 20);

        k[i] = (struct kept){
            .frame = (uint64_t)random_below(rng, 2),
            .units = {begin, begin + 1 + (uint64_t)random_below(rng, 6)},
            .line = i,
            .has_text = 1,
        };
    }
}

static void test_rule(void)
{
    struct kept k[MOST], drawn[MOST];
    char counts[MOST];
    struct rng rng;
    int bad = 0;

    random_init(&rng, GENERATOR_LCG32, 5);
    for (int run = 0; run < 20000; run++) {
        size_t n = (size_t)random_below(&rng, MOST + 1), want;

        draw(&rng, drawn, n);
        memcpy(k, drawn, sizeof k);
        want = by_rule(drawn, n, counts);
        bad += kept_settle(k, &n) != KEPT_SETTLED || n != want;
        for (size_t i = 0; i < n; i++)
            bad += !counts[k[i].line]
                   || (i > 0 && k[i].frame == k[i - 1].frame
                       && k[i].units.begin < k[i - 1].units.end)
                   || (i > 0 && k[i].frame < k[i - 1].frame);
    }
    is_int(bad, 0,
           "of those that overlap the last counts, and all are in order");
}

static enum kept_settled settle_two(struct kept first, struct kept second)
{
    struct kept k[2] = {first, second};
    size_t n = 2;

    k[1].line = 1;
    return kept_settle(k, &n);
}

static void test_twice(void)
{
    const struct kept plain = {.units = {0, 5}}, inner = {.units = {2, 3}};
    const struct kept failed = {.units = {0, 5}, .failed = 1};
    const struct kept changed = {.units = {4, 6}, .has_text = 1};
    const struct kept elsewhere = {.frame = 1, .units = {0, 5}};

    ok(settle_two(plain, inner) == KEPT_TWICE
           && settle_two(inner, plain) == KEPT_TWICE,
       "units that were done twice for no reason are told");
    ok(settle_two(failed, inner) == KEPT_SETTLED,
       "what had failed is a reason");
    ok(settle_two(plain, changed) == KEPT_SETTLED,
       "and so is a text that may have changed");
    ok(settle_two(plain, elsewhere) == KEPT_SETTLED,
       "another frame has units of its own");
}

int main(void)
{
    test_rule();
    test_twice();
    return done();
}
