/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments are found by their content, all that have it. */
#include "pmix_bcast/segment_list.h"
#include "fault.h"
#include "tap.h"

static struct tree_segment segment(uint64_t offset, uint32_t len, uint8_t first)
{
    return (struct tree_segment){offset, len, {first, 7}};
}

/* 256 contents of two lengths, each twice. */
static void fill(struct segment_list *l)
{
    for (uint32_t i = 0; i < 1024; i++) {
        struct tree_segment s =
            segment(i * 1000, 100 + i / 256 % 2, (uint8_t)(i * 77));

        segment_list_add(l, &s, i);
    }
    segment_list_sort(l);
}

static void test_find(void)
{
    struct segment_list l = {.n = 0};
    struct tree_segment s = segment(5, 100, 0);
    size_t n = 7, wrong = 0;

    ok(!segment_list_find(&l, &s, &n) && n == 0, "nothing is in an empty one");
    fill(&l);
    is_int((intmax_t)l.n, 1024, "all are taken");
    for (uint32_t i = 0; i < 1024; i++) {
        const struct segment_place *p;

        s = segment(0, 100 + i / 256 % 2, (uint8_t)(i * 77));
        p = segment_list_find(&l, &s, &n);
        for (size_t k = 0; p && k < n; k++)
            wrong += p[k].segment.len != s.len
                     || p[k].segment.offset != (uint64_t)p[k].file * 1000
                     || (p[k].file - i) % 512 != 0;
        wrong += n != 2 || !p;
    }
    is_int((intmax_t)wrong, 0, "and found, each with its file and place there");
    s.len = 102;
    ok(!segment_list_find(&l, &s, &n) && n == 0, "not one of another length");
    s = segment(0, 100, 1);
    s.digest[31] = 1;
    ok(!segment_list_find(&l, &s, &n), "nor of another content");
    segment_list_clear(&l);
}

static void test_only(void)
{
    struct segment_list all = {.n = 0}, few = {.n = 0}, l = {.only = &few};
    const struct tree_segment one = segment(0, 101, 77);
    size_t n;

    fill(&all);
    segment_list_add(&few, &one, 0);
    fill(&l);
    ok(l.n == 2 && segment_list_find(&l, &one, &n) && n == 2,
       "of those that are wanted alone: %zu of %zu", l.n, all.n);
    segment_list_clear(&l);
    segment_list_clear(&few);
    segment_list_clear(&all);
}

static void test_repeated(void)
{
    struct segment_list l = {.n = 0};

    for (uint32_t i = 0; i < 9; i++) {
        const struct tree_segment zeros = segment(100 * i, 100, 0);

        segment_list_add(&l, &zeros, i / 3);
    }
    is_int((intmax_t)l.n, 3, "what goes on in a file is taken once of each");
    segment_list_clear(&l);
}

static void test_memory(void)
{
    struct segment_list l = {.n = 0};
    const struct tree_segment s = segment(0, 100, 1);

    fault_at = 0;
    segment_list_add(&l, &s, 0);
    fault_at = -1;
    is_int((intmax_t)l.n, 0, "without memory it is left out");
    segment_list_add(&l, &s, 0);
    is_int((intmax_t)l.n, 1, "and the next one is taken");
    segment_list_clear(&l);
}

int main(void)
{
    test_find();
    test_only();
    test_repeated();
    test_memory();
    return done();
}
