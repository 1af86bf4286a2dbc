/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of a node among its ranks: never worse than any other division. */
#include "policy/thread_division.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define RANKS 3

static struct thread_rank rank[8];

static void set(size_t i, double work, uint32_t most)
{
    rank[i] = (struct thread_rank){work, most, 0};
}

static uint32_t sum(size_t n)
{
    uint32_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += rank[i].threads;
    return all;
}

static void test_plain(void)
{
    set(0, 0, 64);
    set(1, 0, 64);
    thread_division(rank, 2, 8);
    ok(rank[0].threads == 4 && rank[1].threads == 4,
       "of whom nothing is known have as many as each other");
    set(1, 3, 64);
    set(0, 1, 64);
    thread_division(rank, 2, 8);
    ok(rank[0].threads == 2 && rank[1].threads == 6,
       "three times the work, three times the threads");
    set(2, 0, 64);
    thread_division(rank, 3, 12);
    ok(rank[0].threads == 2 && rank[1].threads == 6 && rank[2].threads == 4,
       "one that is not known is taken for the mean");
    set(1, NAN, 64);
    set(0, INFINITY, 64);
    set(2, -5, 64);
    thread_division(rank, 3, 6);
    ok(rank[0].threads == 2 && rank[1].threads == 2 && rank[2].threads == 2,
       "numbers that are none are not known");
}

static void test_bounds(void)
{
    set(0, 9, 2);
    set(1, 1, 64);
    thread_division(rank, 2, 8);
    ok(rank[0].threads == 2 && rank[1].threads == 6,
       "no more than it has CPUs for; the others have what is left");
    set(1, 1, 3);
    thread_division(rank, 2, 8);
    ok(rank[0].threads == 2 && rank[1].threads == 3, "nor is any made up");
    for (size_t i = 0; i < 8; i++)
        set(i, (double)i, 1);
    thread_division(rank, 8, 3);
    is_int((int)sum(8), 8, "more ranks than threads: one for each");
    thread_division(rank, 0, 3);
    ok(thread_division_longest(rank, 0) <= 0, "no ranks");
}

static double longest_of(const uint32_t threads[RANKS])
{
    struct thread_rank other[RANKS];

    memcpy(other, rank, sizeof other);
    for (size_t i = 0; i < RANKS; i++)
        other[i].threads = threads[i];
    return thread_division_longest(other, RANKS);
}

/* All divisions of 9 threads. */
static double best(uint32_t all)
{
    double least = INFINITY;
    uint32_t t[RANKS];

    for (t[0] = 1; t[0] <= rank[0].most && t[0] < all; t[0]++)
        for (t[1] = 1; t[1] <= rank[1].most && t[0] + t[1] < all; t[1]++) {
            t[2] = all - t[0] - t[1];
            if (t[2] > rank[2].most)
                t[2] = rank[2].most;
            least = fmin(least, longest_of(t));
        }
    return least;
}

static void test_best(void)
{
    int worse = 0, other_sum = 0, tried = 0;

    for (int a = 1; a < 40; a += 3)
        for (int b = 1; b < 40; b += 3)
            for (uint32_t most = 2; most < 8; most++) {
                set(0, a, most);
                set(1, b, 9);
                set(2, 10, 9);
                thread_division(rank, RANKS, 9);
                tried++;
                other_sum += sum(RANKS) != 9;
                worse += thread_division_longest(rank, RANKS) > best(9) + 1e-12;
            }
    ok(tried > 0 && worse == 0 && other_sum == 0,
       "none of all divisions is better, %d times", tried);
}

int main(void)
{
    test_plain();
    test_bounds();
    test_best();
    return done();
}
