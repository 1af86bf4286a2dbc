/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterations, by where the collectives are called that end a program's
 * regions. */
#include "launcher/libevenstep/mpi_loops.h"
#include "tap.h"

#include <string.h>

static struct mpi_loops l;
static uint64_t useful;
static unsigned found[MPI_LOOPS_MOST]; /* iterations, by loop */
static struct mpi_iteration last;

static void begin(void)
{
    memset(&l, 0, sizeof l);
    memset(found, 0, sizeof found);
    memset(&last, 0, sizeof last);
    useful = 0;
}

/* A region for each character, from there: of 100 ns for a capital letter, and
 * else of 1. */
static void run(const char *regions, unsigned times)
{
    struct mpi_iteration ended[MPI_LOOPS_ENDS];

    for (unsigned i = 0; i < times; i++)
        for (const char *c = regions; *c; c++) {
            unsigned n;

            useful += *c < 'a' ? 100 : 1;
            n = mpi_loops_add(&l, (uint64_t)*c, useful, 3 * useful, ended);
            for (unsigned k = 0; k < n; k++) {
                found[ended[k].loop]++;
                last = ended[k];
            }
        }
}

static void is_found(unsigned n, uint32_t period, uint64_t ns, const char *what)
{
    ok(found[last.loop] == n && last.period == period && last.useful_ns == ns
           && last.waiting_ns == 3 * ns,
       "%s: %u iterations of %u regions and %d ns useful (%u of %u, %d)", what,
       n, period, (int)ns, found[last.loop], last.period, (int)last.useful_ns);
}

static void test_alike(void)
{
    begin();
    run("A", 2);
    is_int((int)found[0], 0, "twice is no loop yet");
    run("A", 18);
    is_found(19, 1, 100, "one region");
    begin();
    run("wxyz", 1);
    run("Abc", 20);
    is_found(19, 3, 102, "a step and two sums after a set-up");
    begin();
    run("Aabab", 20);
    is_found(19, 5, 104, "places that come twice in an iteration");
    begin();
    run("AABB", 20);
    is_found(19, 4, 400, "all of them come twice");
}

static void test_uneven(void)
{
    begin();
    for (int i = 0; i < 10; i++) {
        run("Ab", 10U + (unsigned)i % 3);
        run("pqr", 1);
    }
    is_found(108, 2, 101, "what is printed now and then breaks nothing");
    begin();
    for (int i = 0; i < 10; i++) {
        run("Ab", 10);
        run("pqr", 1);
    }
    is_found(9, 23, 1013,
             "printed after each tenth it is part of a longer one");
    begin();
    run("Axxx", 20);
    ok(last.period == 4 && found[last.loop] >= 17,
       "three the same in each iteration are no loop of their own: %u",
       found[last.loop]);
    begin();
    for (unsigned i = 0; i < 40; i++) {
        run("A", 1);
        run("b", 5 + i % 12);
    }
    ok(last.period == 1 && found[last.loop] > 200,
       "of an inner loop that lasts differently each is one: %u", found[0]);
}

/* One after the other, and the first again. */
static void test_several(void)
{
    begin();
    run("A", 30);
    run("Bc", 30);
    run("A", 30);
    ok(l.loops == 2 && found[0] >= 48 && found[0] <= 58 && found[1] >= 24
           && found[1] <= 29,
       "two loops are told from each other: %u and %u", found[0], found[1]);
}

/* Nothing repeats three times, and more loops than there is room for. */
static void test_none(void)
{
    char regions[2] = "";
    uint32_t state = 1;

    begin();
    for (int i = 0; i < 1000; i++) {
        state = state * 1664525 + 1013904223;
        regions[0] = (char)(1 + (state >> 24) % 100);
        run(regions, 1);
    }
    ok(l.loops <= 1 && found[0] <= 30, "of noise there is hardly any: %u",
       found[0]);
    begin();
    for (char c = '!'; c <= '!' + (char)MPI_LOOPS_MOST; c++) {
        regions[0] = c;
        run(regions, 30);
    }
    ok(l.loops == MPI_LOOPS_MOST && last.loop < MPI_LOOPS_MOST,
       "many loops have the last number together");
}

int main(void)
{
    test_alike();
    test_uneven();
    test_several();
    test_none();
    return done();
}
