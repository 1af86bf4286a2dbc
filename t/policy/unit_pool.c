/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/unit_pool.h"
#include "tap.h"

static struct unit_pool pool;

static int add(uint64_t begin, uint64_t end, unsigned attempts)
{
    return unit_pool_add(&pool, &(struct batch){{begin, end}, attempts, 0});
}

static int is(size_t i, uint64_t begin, uint64_t end)
{
    return i < pool.n && pool.batch[i].units.begin == begin
           && pool.batch[i].units.end == end;
}

static void test_order(void)
{
    add(50, 60, 1);
    add(0, 10, 2);
    add(20, 30, 3);
    add(7, 7, 4);
    ok(pool.n == 3 && is(0, 0, 10) && is(1, 20, 30) && is(2, 50, 60),
       "batches stand by their begin, an empty one is nothing");
    is_int((intmax_t)pool.units, 30, "their units are counted");
    ok(pool.batch[1].attempts == 3, "each with its attempts");
}

static void test_take(void)
{
    struct batch b = unit_pool_take(&pool, 1, 4);

    ok(b.units.begin == 20 && b.units.end == 24 && b.attempts == 3,
       "units are taken off the front of a batch");
    ok(is(1, 24, 30) && pool.units == 26, "and the rest stays");
    b = unit_pool_take(&pool, 0, UINT64_MAX);
    ok(b.units.begin == 0 && b.units.end == 10, "at most what it has");
    ok(pool.n == 2 && is(0, 24, 30) && is(1, 50, 60), "then it is gone");
    unit_pool_empty(&pool);
    ok(pool.n == 0 && pool.units == 0 && pool.cap > 0,
       "an emptied pool keeps its memory");
    unit_pool_clear(&pool);
    ok(pool.cap == 0 && !pool.batch, "a cleared one gives it back");
}

/* Every begin of many, put in in an order of its own, comes out in order. */
static void test_many(void)
{
    uint64_t at = 0;
    int wrong = 0;

    for (uint64_t i = 0; i < 101; i++)
        add(i * 37 % 101 * 10, i * 37 % 101 * 10 + 10, 1);
    is_int((intmax_t)pool.units, 1010, "a hundred batches");
    while (pool.n > 0) {
        struct batch b = unit_pool_take(&pool, 0, 7);

        wrong += b.units.begin != at;
        at = b.units.end;
    }
    ok(wrong == 0 && at == 1010 && pool.units == 0, "come out in order");
    unit_pool_clear(&pool);
}

int main(void)
{
    test_order();
    test_take();
    test_many();
    return done();
}
