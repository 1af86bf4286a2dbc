/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a file is cut: by its content alone, so that what two files have in common
 * is in the same segments of both. */
#include "pmix_bcast/segmenter.h"
#include "tap.h"

#include <string.h>

#define BYTES (16u << 20)
#define MOST  (BYTES / SEGMENT_MIN + 2)

static uint8_t data[BYTES + 64], other[BYTES + 64];

struct ends { /* where segments do */
    size_t at[MOST + 1];
    size_t n;
};

static void fill(uint8_t *bytes, size_t len)
{
    uint64_t x = 88172645463325252u; /* xorshift64 (Marsaglia 2003) */

    for (size_t i = 0; i < len; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes[i] = (uint8_t)x;
    }
}

/* Given so many bytes at a time. */
static void cut(struct ends *e, const uint8_t *bytes, size_t len, size_t step)
{
    static struct segmenter s;
    size_t at = 0;

    segmenter_init(&s);
    e->n = 0;
    while (at < len && e->n < MOST) {
        int ends;

        at += segmenter_take(&s, bytes + at, len - at < step ? len - at : step,
                             &ends);
        if (ends)
            e->at[e->n++] = at;
    }
    if (e->n == 0 || e->at[e->n - 1] < len)
        e->at[e->n++] = len;
}

static void test_sizes(void)
{
    static struct ends e;
    size_t from = 0, small = 0, large = 0;

    fill(data, BYTES);
    cut(&e, data, BYTES, BYTES);
    for (size_t i = 0; i < e.n; i++) {
        small += i + 1 < e.n && e.at[i] - from < SEGMENT_MIN;
        large += e.at[i] - from > SEGMENT_MAX;
        from = e.at[i];
    }
    ok(small == 0 && large == 0, "each segment is within the bounds");
    ok(e.n > BYTES / (2 * SEGMENT_USUAL) && e.n < 2 * BYTES / SEGMENT_USUAL,
       "and about as large as is usual: %zu of 16 MiB", e.n);
    memset(data, 0, BYTES);
    cut(&e, data, BYTES, BYTES);
    ok(e.n > 0 && e.at[0] <= SEGMENT_MAX && e.n <= MOST,
       "what is all alike is cut, too");
}

static void test_steps(void)
{
    static const size_t steps[] = {1, 63, 4096, 100000};
    static struct ends at_once, e;

    fill(data, BYTES);
    cut(&at_once, data, BYTES, BYTES);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        cut(&e, data, BYTES, steps[i]);
        ok(e.n == at_once.n
               && memcmp(e.at, at_once.at, e.n * sizeof e.at[0]) == 0,
           "%zu bytes at a time end where all at once do", steps[i]);
    }
}

/* How many of the ends are where they were, so many bytes further on. */
static size_t kept(const struct ends *a, const struct ends *b, size_t shift)
{
    size_t n = 0;

    for (size_t i = 0, k = 0; i < a->n; i++) {
        while (k < b->n && b->at[k] < a->at[i] + shift)
            k++;
        n += k < b->n && b->at[k] == a->at[i] + shift;
    }
    return n;
}

static void test_content(void)
{
    static struct ends a, b;

    fill(data, BYTES);
    cut(&a, data, BYTES, BYTES);
    memcpy(other + 13, data, BYTES);
    cut(&b, other, BYTES + 13, BYTES);
    ok(kept(&a, &b, 13) + 4 >= a.n, "13 bytes in front of all: %zu of %zu ends",
       kept(&a, &b, 13), a.n);
    memcpy(other, data, BYTES);
    other[BYTES / 2] ^= 1;
    cut(&b, other, BYTES, BYTES);
    ok(kept(&a, &b, 0) + 4 >= a.n, "one byte in the middle: %zu of %zu",
       kept(&a, &b, 0), a.n);
}

int main(void)
{
    test_sizes();
    test_steps();
    test_content();
    return done();
}
