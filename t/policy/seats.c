/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/seats.h"
#include "tap.h"

static size_t given[8], which;

static enum seats_verdict give(const struct seat seat[],
                               size_t n,
                               size_t first,
                               const char *const name[],
                               size_t k)
{
    which = 99;
    return seats_give(seat, n, first, name, k, given, &which);
}

static void test_first(void)
{
    const struct seat seat[] = {{"n0", 1}, {"n1", 1}, {"", 0}, {"", 0}};
    const char *const name[] = {"n3", "n2"};

    ok(give(seat, 4, 2, name, 2) == SEATS_GIVEN && given[0] == 2
           && given[1] == 3,
       "nodes get the first seats, in their order");
    ok(give(seat, 4, 2, name, 0) == SEATS_GIVEN, "none is none");
}

static void test_taken(void)
{
    const struct seat seat[] = {{"n0", 1}, {"n1", 0}, {"n2", 1}, {"", 0}};
    const char *const own[] = {"n3", "n0"}, *const joined[] = {"n2"};
    const char *const twice[] = {"n4", "n4"}, *const lost[] = {"n1"};

    ok(give(seat, 4, 2, own, 2) == SEATS_TAKEN && which == 1,
       "one of the run's own does not join");
    ok(give(seat, 4, 2, joined, 1) == SEATS_TAKEN && which == 0,
       "nor does one twice");
    ok(give(seat, 4, 2, twice, 2) == SEATS_TAKEN && which == 1,
       "nor is it named twice");
    ok(give(seat, 4, 2, lost, 1) == SEATS_GIVEN && given[0] == 3,
       "one of the run's own that is lost gets a seat");
}

static void test_again(void)
{
    const struct seat seat[] = {{"n0", 1}, {"n1", 0}, {"n2", 1}, {"", 0}};
    const char *const back[] = {"n5", "n1"};

    ok(give(seat, 4, 1, back, 2) == SEATS_GIVEN && given[0] == 3
           && given[1] == 1,
       "one that had left gets its own again, which is nobody else's");
}

static void test_full(void)
{
    const struct seat seat[] = {{"n0", 1}, {"n1", 0}, {"", 0}};
    const char *const name[] = {"n2", "n3"};

    ok(give(seat, 3, 1, name, 2) == SEATS_FULL,
       "not all can sit: none does, as a seat keeps its name");
    ok(give(seat, 1, 1, name, 1) == SEATS_FULL, "there are no seats");
}

int main(void)
{
    test_first();
    test_taken();
    test_again();
    test_full();
    return done();
}
