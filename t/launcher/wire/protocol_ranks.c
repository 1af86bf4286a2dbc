/* SPDX-License-Identifier: BSD-2-Clause */
/* How the time of ranks went, on the wire and back. */
#include "launcher/wire/protocol.h"
#include "tap.h"

static const struct efficiency_sum two = {
    .ranks = 2,
    .busiest = 5,
    .last = 4,
    .useful = 30,
    .waiting = 6,
    .most = 20,
    .least = 1,
    .longest = 5,
    .elapsed = 21,
    .calls = 9,
    .regions = 3,
    .threads = 2,
    .busy = 30,
    .room = 40,
    .nodes = 1,
    .n_useful = 15,
    .n_wait = 3,
};

/* 250 KB each. */
static struct msg_ranks sound, got;

static void begin(void)
{
    memset(&sound, 0, sizeof sound);
    sound.is_last = 1;
    sound.size = 6;
    sound.stride = 4;
    sound.sum = two;
    sound.n = 2;
    sound.rank[0] = (struct msg_rank){.rank = 4,
                                      .useful = 10,
                                      .waiting = 5,
                                      .calls = 4,
                                      .threads = 2,
                                      .busy = 15,
                                      .room = 20,
                                      .status = -1};
    sound.rank[1] = (struct msg_rank){5,   20,  1,   5,         0,   0,  0, 0.1,
                                      0.2, 0.3, 0.4, 0.5,       0.6, 7,  8, 9,
                                      10,  11,  12,  RANK_DIED, 13,  14, 9};
    sound.others_cpu = 1;
    sound.own_cpu = 2;
    sound.node_throttled = 3;
    sound.cpus = 4;
    sound.k = 1;
    sound.region[0] = (struct msg_region){.number = 8, .sum = two};
    sound.region[0].sum.calls = sound.region[0].sum.regions = 0;
    sound.region[0].sum.threads = 0;
    sound.region[0].sum.busy = sound.region[0].sum.room = 0;
    sound.iterations = 7;
    sound.iteration_stride = 2;
    sound.l = 1;
    sound.iteration[0] = sound.region[0];
    sound.iteration[0].number = 6;
    sound.iteration[0].loop = 1;
    sound.iteration[0].period = 3;
}

static int transmit(size_t less)
{
    struct writer w = {0};
    int rc;

    msg_write_ranks(&w, &sound);
    memset(&got, 1, sizeof got);
    rc = w.bad ? -1 : msg_read_ranks(&got, w.buf, w.len - less);
    writer_clear(&w);
    return rc;
}

static void refused(const char *what)
{
    static const struct msg_ranks none;

    ok(transmit(0) < 0 && memcmp(&got, &none, sizeof got) == 0,
       "%s is refused, and nothing left", what);
    begin();
}

static void test_bad(void)
{
    sound.is_last = 2;
    refused("a flag that is none");
    sound.stride = 0;
    refused("no stride");
    sound.stride = 6;
    refused("a stride that is no power of two");
    sound.region[0].number = 9;
    refused("a region between two strides");
    sound.rank[1].rank = 6;
    refused("a rank beyond the size");
    sound.sum.ranks = 1;
    refused("more ranks than there are");
    sound.sum.ranks = NODE_TASKS_MAX + 1;
    refused("more than a node has");
    sound.sum.ranks = 0;
    refused("a rank of none");
    sound.rank[0].useful = -1;
    refused("a time below 0");
    sound.rank[0].busy = 21;
    refused("threads that are busier than there is room");
    sound.rank[0].cpu = -1;
    refused("CPU time below 0");
    sound.rank[1].since = (double)NAN;
    refused("a time that is no number");
    sound.rank[1].state = RANK_DIED + 1;
    refused("a state that is none");
    sound.cpus = -1;
    refused("CPUs below 0");
    sound.sum.room = -1;
    refused("room below 0");
    sound.sum.room = 1e27;
    refused("room of centuries");
    sound.sum.useful = 1e22;
    refused("a time of centuries");
    sound.region[0].sum.longest = (double)INFINITY;
    refused("a time without end");
    sound.region[0].sum.ranks = 0;
    refused("a region of nobody");
    sound.iteration_stride = 3;
    refused("another stride that is none");
    sound.iteration[0].number = 7;
    refused("an iteration between two strides");
    sound.iteration[0].loop = RANKS_LOOPS;
    refused("one of a loop too many");
    sound.iteration[0].period = UINT32_MAX;
    refused("one of too many regions");
    sound.iteration[0].sum.ranks = 0;
    refused("an iteration of nobody");
}

/* Counts that the body does not hold. */
static void test_counts(void)
{
    struct writer w = {0};

    sound.n = sound.k = sound.l = 0;
    sound.sum.ranks = NODE_TASKS_MAX;
    msg_write_ranks(&w, &sound);
    put_u32(w.buf + w.len - 60, RANKS_MAX + 1);
    ok(msg_read_ranks(&got, w.buf, w.len) < 0, "too many ranks are refused");
    put_u32(w.buf + w.len - 60, 0);
    put_u32(w.buf + w.len - 24, RANKS_REGIONS + 1);
    ok(msg_read_ranks(&got, w.buf, w.len) < 0, "and too many regions");
    put_u32(w.buf + w.len - 24, 0);
    put_u32(w.buf + w.len - 4, RANKS_REGIONS + 1);
    ok(msg_read_ranks(&got, w.buf, w.len) < 0, "and too many iterations");
    writer_clear(&w);
    begin();
}

static struct msg_rank_detail detail, had;

static int transmit_detail(size_t less)
{
    struct writer w = {0};
    int rc;

    msg_write_rank_detail(&w, &detail);
    rc = msg_read_rank_detail(&had, w.buf, w.len - less);
    writer_clear(&w);
    return rc;
}

static void begin_detail(void)
{
    memset(&detail, 0, sizeof detail);
    detail.rank = 3;
    detail.bin_ns = 1e9;
    detail.bins = RANK_BINS;
    detail.bin[0] = (struct msg_rank_bin){255, 0, 1, 2};
    detail.bin[49] = (struct msg_rank_bin){1, 254, 253, 252};
    detail.sites = 1;
    detail.site[0] = (struct msg_rank_site){7, 1e9, 12, "solve+0x4f (app)"};
}

static void detail_refused(const char *what)
{
    ok(transmit_detail(0) < 0 && had.sites == 0 && had.bins == 0,
       "%s is refused", what);
    begin_detail();
}

static void test_detail(void)
{
    size_t accepted = 0;

    begin_detail();
    ok(transmit_detail(0) == 0 && memcmp(&had, &detail, sizeof had) == 0,
       "one rank's bins and call sites are read as they were written");
    for (size_t less = 1; less <= 120; less++)
        accepted += transmit_detail(less) == 0;
    is_int((int)accepted, 0, "not if the end is missing");
    detail.bin_ns = 0;
    detail_refused("a bin of no time");
    detail.bin_ns = (double)NAN;
    detail_refused("a bin that is no number");
    detail.site[0].waiting = -1;
    detail_refused("waiting below 0");
    detail.site[0].where[0] = '\033';
    detail_refused("a name that a terminal would obey");
}

int main(void)
{
    size_t accepted = 0;
    struct writer w = {0}, again = {0};

    begin();
    is_int(transmit(0), 0, "ranks are read");
    msg_write_ranks(&w, &sound);
    msg_write_ranks(&again, &got);
    ok(again.len == w.len && memcmp(again.buf, w.buf, w.len) == 0,
       "as they were written");
    writer_clear(&again);
    ok(got.sum.nodes == 1 && got.sum.n_useful == 15
           && got.region[0].sum.n_wait == 3,
       "and means over the ranks of the node are known");
    for (size_t less = 1; less <= w.len; less++)
        accepted += transmit(less) == 0;
    writer_clear(&w);
    is_int((int)accepted, 0, "not if the end is missing");
    test_bad();
    test_counts();
    test_detail();
    memset(&sound, 0, sizeof sound);
    sound.is_last = 1;
    sound.stride = sound.iteration_stride = 1;
    ok(transmit(0) == 0 && got.sum.nodes == 0,
       "a node may have no ranks at all");
    return done();
}
