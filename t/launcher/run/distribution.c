/* SPDX-License-Identifier: BSD-2-Clause */
/* The tail of a frame on thousands of nodes, of which most are idle. */
#define SESSION_NODES 8192
#define SESSION_BODY  512
#include "launcher/run/distribution.h"
#include "launcher/run/job_load_adjuster.h"
#include "pmix_bcast/clock.h"
#include "policy/pace.h"

#include "fake_session.h"
#include "policy/kinds.h"
#include "tap.h"

static struct session session;
static struct distribution d;
static struct job_load_adjuster adjuster;
static struct es_error err;
static double load[SESSION_NODES];

/* A frame of 100 units a node, of which the last `late` hold all. */
static void start(size_t late)
{
    struct frame frame = {.end = UINT64_C(100) * SESSION_NODES};

    session_make(&session);
    for (size_t i = 0; i < SESSION_NODES; i++)
        load[i] = 100;
    adjuster.kind = kinds_find("static");
    adjuster.load = load;
    adjuster.n = SESSION_NODES;
    if (distribution_init(&d, &session, 1, 4) < 0)
        bail("no memory");
    d.adjuster = &adjuster;
    if (distribution_send(&d, &frame, NULL, 0, &err) < 0)
        bail("cannot send");
    for (size_t i = 0; i < SESSION_NODES - late; i++)
        d.share[i].waiting.units.end = d.share[i].waiting.units.begin;
}

/* The node has done what it had out. */
static void finish_one(size_t node)
{
    struct piece *p = distribution_current(&d, node);

    p->seconds = 0.1;
    if (distribution_settle(&d, p, PIECE_DONE, &err) < 0)
        bail("cannot settle");
}

static uint64_t units_held(void)
{
    uint64_t units = 0;

    for (size_t i = 0; i < SESSION_NODES; i++)
        units += d.share[i].out_units + d.share[i].waiting.units.end
                 - d.share[i].waiting.units.begin;
    return units;
}

/* All but the late are idle at once. */
static void test_feed(size_t late)
{
    uint64_t before, work;
    size_t idle = SESSION_NODES - late, helped = 0;

    start(late);
    for (size_t i = 0; i < idle; i++)
        finish_one(i);
    d.delay = 0;
    before = units_held();
    work = d.look.work;
    ok(distribution_feed(&d, &err) == 0, "%zu late nodes", late);
    work = d.look.work - work;
    for (size_t i = 0; i < idle; i++)
        helped += d.share[i].out > 0;
    ok(helped >= late && units_held() == before,
       "idle ones take over from them (%zu), no unit comes or goes", helped);
    ok(work > 0 && work < UINT64_C(40) * SESSION_NODES,
       "one look does for all of them: %ju nodes looked at, of %u",
       (uintmax_t)work, SESSION_NODES);
    distribution_clear(&d);
}

/* They become idle one by one. */
static void test_one_by_one(void)
{
    uint64_t work;
    int64_t from, gaps;
    int waited = 0;

    start(1);
    work = d.look.work;
    from = clock_ns();
    for (size_t i = 0; i < SESSION_NODES - 1; i++) {
        finish_one(i);
        if (distribution_feed_node(&d, i, &err) < 0)
            bail("nobody is fed");
        waited |= d.hungry;
    }
    gaps = (clock_ns() - from) / distribution_gap_ns(&d) + 1;
    work = d.look.work - work;
    ok(waited, "of many that become idle one after the other some wait");
    ok(work <= (uint64_t)gaps * 2 * SESSION_NODES,
       "and there is no look for each: %ju nodes looked at, in %jd looks at "
       "most",
       (uintmax_t)work, (intmax_t)gaps);
    is_int(distribution_feed(&d, &err), 0, "the next look");
    ok(!d.hungry, "is for those that wait");
    distribution_clear(&d);
}

int main(void)
{
    test_feed(1);
    test_feed(100);
    test_feed(SESSION_NODES / 2);
    test_one_by_one();
    return done();
}
