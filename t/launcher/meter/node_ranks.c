/* SPDX-License-Identifier: BSD-2-Clause */
/* From the entries of a node's ranks: what they have done, exactly, and how far
 * they are in a long region. */
#include "launcher/meter/node_ranks.h"
#include "tap.h"

#define MS INT64_C(1000000)

static struct meter_page page;
static struct node_ranks node;
static int64_t now;
static int64_t cpu[3]; /* of the processes 1 and 2 */

static int64_t cpu_of(uint32_t pid)
{
    return pid < 3 ? cpu[pid] : -1;
}

static void begin(enum aggregate how)
{
    memset(&page, 0, sizeof page);
    memset(&node, 0, sizeof node);
    memset(cpu, 0, sizeof cpu);
    node.how = how;
    node.cpu = cpu_of;
    now = 1000 * MS;
}

/* A rank of two that has come out of MPI_Init. */
static void arrive(uint32_t i)
{
    struct meter_rank *r = &page.rank[i];

    page.slot[i].owner = i + 1;
    page.high = page.high > i + 1 ? page.high : i + 1;
    r->size = 2;
    r->rank = i;
    r->calls = 1;
    r->since_ns = (uint64_t)now;
}

/* Its clock goes on by so many ms of work, all on a CPU, or of waiting. */
static void work(uint32_t i, int64_t ms)
{
    page.rank[i].useful_ns += (uint64_t)(ms * MS);
    cpu[i + 1] += ms * MS;
}

/* It is in its next region, at this time. */
static void end_region(uint32_t i, int64_t useful_ms)
{
    struct meter_rank *r = &page.rank[i];

    r->ring[r->regions % METER_RING].useful_ns = (uint64_t)(useful_ms * MS);
    r->regions++;
    r->since_ns = (uint64_t)now;
    r->is_waiting = 0;
}

static void wait_there(uint32_t i)
{
    page.rank[i].is_waiting = 1;
    page.rank[i].since_ns = (uint64_t)now;
}

static enum meter_change look(void)
{
    return node_ranks_update(&node, &page, now);
}

/* One region of both: rank 0 works for a ms, rank 1 for b, together until the
 * later one is there. */
static void region(int64_t a, int64_t b)
{
    now += (a > b ? a : b) * MS;
    work(0, a);
    work(1, b);
    end_region(0, a);
    end_region(1, b);
}

static void both_begin(enum aggregate how)
{
    begin(how);
    arrive(0);
    arrive(1);
    (void)look();
    region(5, 5);
    (void)look();
}

static void test_counts(void)
{
    begin(AGGREGATE_MIN);
    is_int(look(), METER_STILL, "an empty page is still");
    arrive(0);
    page.rank[0].calls = 0;
    now += MS;
    is_int(look(), METER_STILL, "so is an entry that no rank writes");
    arrive(0);
    arrive(1);
    is_int(look(), METER_ANOTHER, "ranks that come are news");
    ok(node.n == 2 && node_ranks_has(&node, 1) && !node_ranks_has(&node, 2),
       "two of them");
    is_near(node_ranks_done_ns(&node), 0, 0, "nothing is counted yet");
    region(5, 7);
    is_int(look(), METER_MOVED, "a region ends");
    is_near(node_ranks_progress(&node), 0, 0,
            "from there it counts, not before");
    region(10, 20);
    region(10, 30);
    (void)look();
    is_near(node_ranks_progress(&node), 2, 0, "two regions in one sample");
    is_near(node_ranks_work_ns(&node), 50.0 * (double)MS, 1,
            "with the useful time of the slowest, exactly");
    is_near(node_ranks_done_ns(&node), 50.0 * (double)MS, 2,
            "and the time between their ends");
    is_near(node_ranks_left_ns(&node), 0, 0, "nothing is said of short ones");
    ok(node_ranks_skew(&node) > 0.05, "its ranks differ");
    page.slot[1].owner = 0;
    is_int(look(), METER_ANOTHER, "a rank that ends is news");
    is_near(node_ranks_done_ns(&node), 0, 0, "and starts over");
}

static void test_mean(void)
{
    both_begin(AGGREGATE_MEAN);
    region(10, 20);
    (void)look();
    is_near(node_ranks_work_ns(&node), 15.0 * (double)MS, 1,
            "the mean stands for the node, if it is to");
}

/* One of them has left the collective already when we look. */
static void test_apart(void)
{
    both_begin(AGGREGATE_MIN);
    now += 20 * MS;
    work(0, 20);
    end_region(0, 20);
    work(1, 20);
    (void)look();
    is_near(node_ranks_progress(&node), 0, 0,
            "a region has ended when all have ended it");
    end_region(1, 20);
    now += 10 * MS;
    work(0, 10);
    work(1, 10);
    page.rank[0].since_ns = page.rank[1].since_ns = (uint64_t)now;
    (void)look();
    is_near(node_ranks_progress(&node), 1, 0, "then it counts");
    is_near(node_ranks_done_ns(&node), 20.0 * (double)MS, 2,
            "until the time when it was, not when it is seen");
}

/* More than the ring holds between two samples. */
static void test_many(void)
{
    both_begin(AGGREGATE_MIN);
    for (int i = 0; i < 100; i++)
        region(1, 2);
    (void)look();
    is_near(node_ranks_progress(&node), 100, 0, "a hundred short regions");
    is_near(node_ranks_work_ns(&node), 200.0 * (double)MS, 2.0 * (double)MS,
            "with all their time");
    for (int i = 0; i < 10; i++)
        region(1, 2);
    (void)look();
    is_near(node_ranks_work_ns(&node), 220.0 * (double)MS, 2.0 * (double)MS,
            "and those after them");
}

/* Samples of 10 ms, in which rank 1 has a part of a CPU. */
static void run(int64_t ms, double part)
{
    for (int64_t t = 0; t < ms; t += 10) {
        now += 10 * MS;
        work(0, 10);
        work(1, 10);
        cpu[2] -= (int64_t)((1 - part) * 10 * MS);
        page.rank[0].since_ns = page.rank[1].since_ns = (uint64_t)now;
        (void)look();
    }
}

static void end_long(int64_t ms)
{
    end_region(0, ms);
    end_region(1, ms);
    now += 10 * MS;
    work(0, 10);
    work(1, 10);
    page.rank[0].since_ns = page.rank[1].since_ns = (uint64_t)now;
    (void)look();
}

static void test_long(void)
{
    double before, after;

    both_begin(AGGREGATE_MIN);
    run(4000, 0.8);
    is_near(node_ranks_left_ns(&node), 0, 0,
            "of the first long region nobody knows how long it is");
    end_long(4000);
    run(2000, 0.8);
    is_near(node_ranks_progress(&node), 1.5, 0.03,
            "half of the next is done when half of its CPU time is");
    is_near(node_ranks_left_ns(&node), 2000.0 * (double)MS, 100.0 * (double)MS,
            "half of its time is left");
    before = node_ranks_done_ns(&node);
    run(1000, 0.4);
    after = node_ranks_done_ns(&node);
    is_near(after - before, 500.0 * (double)MS, 60.0 * (double)MS,
            "a rank that has half of the CPU time is half as fast");
    is_near(node_ranks_work_ns(&node) - node.work_ns, 3000.0 * (double)MS,
            100.0 * (double)MS, "though it works all the time");
    ok(!node.is_waiting, "nobody waits");
    wait_there(0);
    wait_there(1);
    now += 300 * MS;
    is_int(look(), METER_MOVED, "that all wait is news");
    ok(node.is_waiting, "as the node waits for others");
    end_long(3300);
    is_near(node_ranks_progress(&node), 2, 0, "the end of it is exact");
    is_near(node_ranks_done_ns(&node), 8000.0 * (double)MS, 50.0 * (double)MS,
            "it counts as long as the last one");
}

/* What a program may write there. */
static void test_hostile(void)
{
    uint32_t x = 1;
    int in_range = 1;

    begin(AGGREGATE_MEDIAN);
    for (int round = 0; round < 20; round++) {
        unsigned char *at = (unsigned char *)page.rank;

        for (size_t i = 0; i < sizeof page.rank; i++)
            at[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
        page.high = 64;
        for (uint32_t i = 0; i < 64; i++) {
            page.slot[i].owner = i + 1;
            page.rank[i].sequence = 0;
            page.rank[i].size = 1u << 31;
            page.rank[i].rank = i;
            page.rank[i].regions = (uint64_t)round * 7;
        }
        now += 10 * MS;
        (void)look();
        in_range &= isfinite(node_ranks_progress(&node))
                    && node_ranks_progress(&node) >= 0
                    && isfinite(node_ranks_work_ns(&node))
                    && node_ranks_work_ns(&node) >= 0
                    && node_ranks_done_ns(&node) >= 0
                    && isfinite(node_ranks_skew(&node));
    }
    ok(in_range, "any bytes are some progress, and no harm");
    ok(node_ranks_cpu_ns(0) == -1 && node_ranks_cpu_ns(UINT32_MAX) == -1
           && node_ranks_cpu_ns((uint32_t)getpid()) > 0,
       "CPU time is that of processes that there are");
}

int main(void)
{
    test_counts();
    test_mean();
    test_apart();
    test_many();
    test_long();
    test_hostile();
    return done();
}
