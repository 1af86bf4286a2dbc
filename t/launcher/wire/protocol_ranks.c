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

/* 50 KB each. */
static struct msg_ranks sound, got;

static void begin(void)
{
    memset(&sound, 0, sizeof sound);
    sound.is_last = 1;
    sound.size = 6;
    sound.stride = 4;
    sound.sum = two;
    sound.n = 2;
    sound.rank[0] = (struct msg_rank){4, 10, 5, 4, 2, 15, 20};
    sound.rank[1] = (struct msg_rank){5, 20, 1, 5, 0, 0, 0};
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
    put_u32(w.buf + w.len - 28, RANKS_MAX + 1);
    ok(msg_read_ranks(&got, w.buf, w.len) < 0, "too many ranks are refused");
    put_u32(w.buf + w.len - 28, 0);
    put_u32(w.buf + w.len - 24, RANKS_REGIONS + 1);
    ok(msg_read_ranks(&got, w.buf, w.len) < 0, "and too many regions");
    put_u32(w.buf + w.len - 24, 0);
    put_u32(w.buf + w.len - 4, RANKS_REGIONS + 1);
    ok(msg_read_ranks(&got, w.buf, w.len) < 0, "and too many iterations");
    writer_clear(&w);
    begin();
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
    memset(&sound, 0, sizeof sound);
    sound.is_last = 1;
    sound.stride = sound.iteration_stride = 1;
    ok(transmit(0) == 0 && got.sum.nodes == 0,
       "a node may have no ranks at all");
    return done();
}
