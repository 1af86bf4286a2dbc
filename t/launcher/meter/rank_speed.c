/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast a slot gets on: threads that tick, ranks metered from outside. */
#include "launcher/meter/rank_speed.h"
#include "tap.h"

#include <math.h>
#include <stdatomic.h>

#define MS UINT64_C(1000000)

static struct meter_page *page;
static struct rank_speed speed;
static int64_t now;

static int is_same(double a, double b)
{
    return fabs(a - b) < 1e-9 * (1 + fabs(b));
}

static enum meter_change look_after(uint64_t ns)
{
    now += (int64_t)ns;
    return rank_speed_update(&speed, page, 0, now, ns);
}

static void begin(uint32_t owner)
{
    struct meter_slot *slot = &page->slot[0];

    atomic_store(&slot->owner, owner);
    atomic_store(&slot->regions, 1);
    atomic_store(&slot->total, 100);
    atomic_store(&slot->done, 0);
}

static void end_region(uint64_t useful_ns)
{
    struct meter_rank *rank = &page->rank[0];
    uint64_t n = atomic_load(&rank->regions);

    atomic_store(&rank->ring[n % METER_RING].useful_ns, useful_ns);
    atomic_store(&rank->regions, n + 1);
}

static void test_ticks(void)
{
    begin(10);
    (void)look_after(10 * MS);
    rank_speed_start(&speed);
    atomic_store(&page->slot[0].done, 50);
    (void)look_after(10 * MS);
    ok(is_same(rank_speed_done(&speed), 0.5)
           && is_same(rank_speed_work_ns(&speed), 10e6),
       "a thread that ticks: half of a region");
    ok(rank_speed_region_ns(&speed) <= 0, "of which none has ended");
}

static void test_outside(void)
{
    atomic_store(&page->rank[0].size, 2);
    begin(11);
    is_int(look_after(10 * MS), METER_ANOTHER, "another owner");
    rank_speed_start(&speed);
    end_region(999 * MS);
    (void)look_after(10 * MS);
    ok(rank_speed_done(&speed) <= 0, "the region underway does not count");
    end_region(30 * MS);
    end_region(40 * MS);
    (void)look_after(60 * MS);
    ok(is_same(rank_speed_done(&speed), 2)
           && is_same(rank_speed_work_ns(&speed), 70e6),
       "those after it do, with the useful time that they took");
    ok(is_same(rank_speed_region_ns(&speed), 30e6),
       "and that from the end of one to that of the next");
    for (unsigned i = 0; i < 3 * METER_RING; i++)
        end_region(10 * MS);
    (void)look_after(10 * MS);
    ok(rank_speed_done(&speed) <= 2 + METER_RING
           && rank_speed_done(&speed) > METER_RING,
       "more than are remembered: those that are");
    rank_speed_start(&speed);
    atomic_store(&page->rank[0].regions, 1);
    (void)look_after(10 * MS);
    end_region(10 * MS);
    (void)look_after(10 * MS);
    ok(rank_speed_done(&speed) <= 0, "another program: anew");
    end_region(10 * MS);
    (void)look_after(10 * MS);
    ok(is_same(rank_speed_done(&speed), 1), "from its next region on");
}

static void end_thread(uint64_t regions, uint64_t useful_ns)
{
    atomic_store(&page->rank[0].regions, regions);
    atomic_store(&page->rank[0].useful_ns, useful_ns);
    atomic_store(&page->rank[0].ended_ns, useful_ns);
    (void)look_after(10 * MS);
}

static void test_thread(void)
{
    speed = (struct rank_speed){.next = 0};
    atomic_store(&page->rank[0].size, 0);
    atomic_store(&page->rank[0].leader, 2); /* of slot 1 */
    atomic_store(&page->slot[0].regions, 0);
    end_thread(5, 50 * MS);
    ok(rank_speed_is_used(&speed), "a thread of a team is told by its entry");
    rank_speed_start(&speed);
    end_thread(5, 50 * MS);
    end_thread(6, 70 * MS);
    ok(rank_speed_done(&speed) <= 0, "the region underway does not count");
    end_thread(8, 100 * MS);
    ok(is_same(rank_speed_done(&speed), 2)
           && is_same(rank_speed_work_ns(&speed), 30e6),
       "those after it do, with the time that it was busy");
    end_thread(9, 100 * MS);
    ok(is_same(rank_speed_done(&speed), 3)
           && is_same(rank_speed_work_ns(&speed), 30e6),
       "also if that is none");
    ok(rank_speed_region_ns(&speed) > 0, "from one end to the next");
    end_thread(9, 1 * MS);
    ok(rank_speed_done(&speed) <= 0, "another thread: anew");
    atomic_store(&page->rank[0].leader, 0);
    (void)look_after(10 * MS);
    ok(!rank_speed_is_used(&speed), "it is told no longer");
}

int main(void)
{
    int fd;

    page = meter_page_create(&fd);
    if (!page)
        bail("no page");
    test_ticks();
    test_outside();
    test_thread();
    meter_page_destroy(page);
    done();
}
