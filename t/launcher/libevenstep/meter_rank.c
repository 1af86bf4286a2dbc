/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent reads of a rank that is metered from outside, whatever stands
 * there. */
#include "launcher/libevenstep/meter_page.h"
#include "tap.h"

static struct meter_rank entry;

static void region(uint64_t number, uint64_t useful, uint64_t waiting)
{
    entry.ring[number % METER_RING].useful_ns = useful;
    entry.ring[number % METER_RING].waiting_ns = waiting;
    entry.regions = number + 1;
}

static void test_time(void)
{
    struct meter_time t = {.calls = 7};

    is_int(meter_rank_read(&entry, &t), 0, "an empty entry is none");
    entry.size = 4;
    entry.rank = 4;
    is_int(meter_rank_read(&entry, &t), 0, "nor is a rank beyond the size");
    entry.rank = 3;
    entry.sequence = 5;
    is_int(meter_rank_read(&entry, &t), -1, "one that is being written waits");
    ok(t.calls == 7, "and nothing was touched");
    entry.sequence = 6;
    entry.is_waiting = 9;
    entry.useful_ns = 100;
    is_int(meter_rank_read(&entry, &t), 1, "a whole one is read");
    ok(t.size == 4 && t.rank == 3 && t.is_waiting == 1 && t.useful_ns == 100,
       "with its values");
}

static void test_regions(void)
{
    struct meter_region r[METER_RING];

    is_int((int)meter_rank_regions(&entry, 0, r), 0, "no region yet");
    for (uint64_t i = 0; i < 5; i++)
        region(i, 10 * i, i);
    is_int((int)meter_rank_regions(&entry, 2, r), 3, "three since the second");
    ok(r[0].number == 2 && r[2].number == 4 && r[2].useful_ns == 40
           && r[2].waiting_ns == 4,
       "in order, with their times");
    is_int((int)meter_rank_regions(&entry, 5, r), 0, "none since the last");
    for (uint64_t i = 5; i < 100; i++)
        region(i, 10 * i, i);
    is_int((int)meter_rank_regions(&entry, 5, r), METER_RING - 1,
           "of those that have gone by only what the writer leaves alone");
    ok(r[0].number == 69 && r[0].useful_ns == 690, "the oldest is sound");
    is_int((int)meter_rank_regions(&entry, 1000, r), METER_RING - 1,
           "a number from before a restart starts over");
    entry.regions = UINT64_MAX;
    ok(meter_rank_regions(&entry, 0, r) <= METER_RING,
       "a count of nonsense stays within the ring");
}

/* The writer may have written two places ahead. */
static void test_iterations(void)
{
    struct meter_region r[METER_RING];

    is_int((int)meter_rank_iterations(&entry, 0, r), 0, "no iteration yet");
    for (unsigned i = 0; i < 40; i++)
        entry.iteration[i % METER_RING].useful_ns = i;
    entry.iteration[7].loop = 8 * METER_LOOPS + 3;
    entry.iteration[7].period = 5;
    entry.iterations = 40;
    is_int((int)meter_rank_iterations(&entry, 0, r), METER_RING - 2,
           "of those that have gone by what the writer leaves alone");
    ok(r[0].number == 10 && r[0].useful_ns == 10, "in order");
    ok(r[29].number == 39 && r[29].loop == 3 && r[29].period == 5,
       "each with its loop, be it nonsense");
}

/* Of the last site's name all bytes are used, with no end. */
static void test_sites(void)
{
    struct meter_site_view s[METER_SITES];

    is_int((int)meter_rank_sites(&entry, s), 0, "no site yet");
    entry.sites = 3;
    entry.site[0].where = 0x1234;
    entry.site[0].waiting_ns = 7;
    entry.site[0].calls = 2;
    entry.site[0].call = 5;
    memcpy(entry.site[0].name, "f+0x12 (app)", 13);
    entry.site[2].where = 1;
    memset(entry.site[2].name, 'a', METER_NAME);
    entry.site[2].name[1] = '\033';
    is_int((int)meter_rank_sites(&entry, s), 2,
           "one that becomes another's is left out");
    ok(s[0].waiting_ns == 7 && s[0].calls == 2 && s[0].call == 5,
       "a site has its time");
    is_str(s[0].name, "f+0x12 (app)", "and its name");
    ok(strlen(s[1].name) == METER_NAME - 1 && s[1].name[1] == '?',
       "a name of nonsense is printable and ends");
    entry.sites = UINT32_MAX;
    ok(meter_rank_sites(&entry, s) <= METER_SITES, "so does the list");
}

int main(void)
{
    test_time();
    test_sites();
    test_iterations();
    test_regions();
    return done();
}
