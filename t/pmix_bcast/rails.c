/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of several connections takes the next chunk. */
#include "pmix_bcast/rails.h"
#include "tap.h"

#define SIZE 1000u

#define OPEN(...) ((struct rail_load){.is_open = 1, __VA_ARGS__})

static unsigned best2(struct rail_load a, struct rail_load b)
{
    const struct rail_load two[] = {a, b};

    return rails_best(two, 2, SIZE);
}

static void test_least(void)
{
    is_int(best2(OPEN(0), OPEN(0)), 0, "of equal ones the first");
    is_int(best2(OPEN(.waits = 1), OPEN(0)), 1, "where less waits");
    is_int(best2((struct rail_load){0}, OPEN(.waits = 99)), 1,
           "one that is not open takes nothing");
    is_int(best2((struct rail_load){0}, (struct rail_load){0}), 2,
           "without one there is none");
    is_int(rails_best(NULL, 0, SIZE), 0, "nor among none at all");
}

static void test_said(void)
{
    is_int(best2(OPEN(.mbps = 100), OPEN(.mbps = 1000)), 1,
           "the faster one, as the system says");
    is_int(best2(OPEN(.mbps = 100), OPEN(.mbps = 1000, .waits = 9 * SIZE + 1)),
           0, "until more waits there than its rate makes good");
    is_int(best2(OPEN(.mbps = 100), OPEN(.mbps = 1000, .waits = 8 * SIZE)), 1,
           "not before");
    is_int(best2(OPEN(.mbps = 100), OPEN(.waits = 1)), 0,
           "said of one only it counts nothing");
    is_int(best2((struct rail_load){0}, OPEN(0)), 1,
           "what is said of one that is not open is not asked for");
}

static void test_seen(void)
{
    is_int(
        best2(OPEN(.mbps = 1000, .seen = 1e6), OPEN(.mbps = 100, .seen = 1e7)),
        1, "what was seen of all goes before what is said");
    is_int(best2(OPEN(.mbps = 1000, .seen = 1e6), OPEN(.mbps = 100)), 0,
           "but not what was seen of one");
    is_int(best2(OPEN(.seen = 1e7, .waits = 20 * SIZE),
                 OPEN(.seen = 1, .waits = SIZE)),
           0, "one that takes nothing gets no more");
}

int main(void)
{
    test_least();
    test_said();
    test_seen();
    return done();
}
