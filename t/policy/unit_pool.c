/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/unit_pool.h"
#include "fenced.h"
#include "tap.h"

static struct unit_pool pool;

static int add(uint64_t begin, uint64_t end, unsigned attempts)
{
    return unit_pool_add(&pool, &(struct batch){{begin, end}, attempts, 0, 0});
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

/* Without memory a batch is not put in, and all others stay. */
static void test_no_memory(void)
{
    uint64_t n = 1;
    int grew = 0;

    ok(add(0, 5, 1) == 0, "the first batch");
    for (; n < 200; n++) {
        fault_at = 0;
        if (add(n * 10, n * 10 + 5, 1) < 0) {
            fault_at = -1;
            if (pool.n != n || pool.units != n * 5
                || !is(n - 1, n * 10 - 10, n * 10 - 5))
                break;
            grew++;
            (void)add(n * 10, n * 10 + 5, 1);
        }
        fault_at = -1;
    }
    ok(n == 200 && grew > 1 && grew < 10 && pool.n == 200,
       "%d times there was no room for one more, and nothing was lost", grew);
    unit_pool_clear(&pool);
}

/* What is reserved is there when memory is not. */
static void test_reserve(void)
{
    uint64_t n = 0;

    is_int(unit_pool_reserve(&pool, 100), 0, "room for a hundred");
    is_int((intmax_t)pool.cap, 100, "and no more, where that is much");
    fault_at = 0;
    is_int(unit_pool_reserve(&pool, 100), 0, "is there, and costs nothing");
    while (n < 150 && add(n * 10, n * 10 + 5, 1) == 0)
        n++;
    fault_at = -1;
    is_int((intmax_t)n, 100, "a hundred batches need no memory");
    is_int(unit_pool_reserve(&pool, 101), 0, "room for one more");
    is_int((intmax_t)pool.cap, 216, "is room for many more");
    ok(unit_pool_reserve(&pool, SIZE_MAX / sizeof(struct batch) + 1) < 0
           && unit_pool_reserve(&pool, SIZE_MAX) < 0 && pool.n == 100,
       "room for more than memory has bytes is refused");
    unit_pool_clear(&pool);
}

int main(void)
{
    fence_on = 1;
    test_order();
    test_take();
    test_many();
    test_no_memory();
    test_reserve();
    return done();
}
