/* SPDX-License-Identifier: BSD-2-Clause */
/* How often many nodes are heard, and looked at. */
#include "policy/pace.h"
#include "tap.h"

static void test_records(void)
{
    static const struct {
        size_t n;
        uint32_t least, ms;
    } rows[] = {
        {0, 10, 10},      {1, 10, 10},       {8, 1, 1},
        {100, 10, 10},    {101, 10, 11},     {1000, 10, 100},
        {1000, 500, 500}, {16384, 10, 1639}, {SIZE_MAX, 10, UINT32_MAX},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(pace_record_ms(rows[i].n, rows[i].least) == rows[i].ms,
           "%zu nodes, %u ms wanted: a record every %u ms", rows[i].n,
           rows[i].least, rows[i].ms);
}

/* Whatever n is. */
static void test_never_more(void)
{
    int pass = 1;

    for (size_t n = 1; n <= 100000; n++) {
        double per_s = (double)n * 1000 / pace_record_ms(n, 1);

        pass &= per_s <= PACE_RECORDS_PER_S;
    }
    ok(pass, "never more than %u records a second in all", PACE_RECORDS_PER_S);
}

static void test_looks(void)
{
    is_int(pace_look_ns(8), 0, "8 nodes are looked at whenever one is idle");
    is_int(pace_look_ns(PACE_LOOK_FREE), 0, "and 256");
    is_int(pace_look_ns(1000), 1000000, "1,000 nodes every millisecond");
    is_int(pace_look_ns(16384), 16384000, "16,384 nodes every 16");
    ok(pace_look_ns(SIZE_MAX) > 0, "and more than there are now and then");
}

static void test_fits(void)
{
    is_int(pace_fit_ns(4), 1200000, "4 nodes: a fit in 1.2 ms");
    is_int(pace_fit_ns(1000), 300000000, "1,000 nodes: three a second");
    is_int(pace_fit_ns(SIZE_MAX), pace_fit_ns(2000), "more nodes cost no more");
}

int main(void)
{
    test_records();
    test_never_more();
    test_looks();
    test_fits();
    return done();
}
