/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames ahead: what is begun when, that frames come out in order, and that
 * each unit of each frame is done once, whatever happens to the nodes.
 * Of the runs that the session keeps those are taken away that are answered.
 */
#include "launcher/run/distribution.h"
#include "policy/kinds.h"
#include "policy/random.h"
#include "run_session.h"
#include "tap.h"

#define UNITS  10
#define FRAMES 40

static uint64_t begun; /* frames */
/* What a piece takes: long, so that what this test takes is nothing beside it. */
static uint64_t took_ns = 1000000000000u;

static void start_with(struct job_load_adjuster *by,
                       uint64_t ahead,
                       uint64_t pieces)
{
    begun = 0;
    make_distribution(pieces, ahead);
    distribution_begin(d, by, NULL);
}

/* All nodes alike. */
static void adjust_by(struct job_load_adjuster *by,
                      const char *policy,
                      const double value[])
{
    static const struct profile profile = {{1}};
    static struct metric metric[NODES];

    for (size_t i = 0; i < NODES; i++)
        metric[i].JL = 1;
    if (job_load_adjuster_init(by, kinds_find(policy), value, metric, &profile,
                               NODES, &err)
        < 0)
        bail("no policy");
}

static void start(uint64_t ahead, uint64_t pieces)
{
    start_with(&adjuster, ahead, pieces);
}

static void begin(void)
{
    struct frame frame = {.number = begun++, .end = UNITS};

    if (distribution_send(d, &frame, NULL, 0, &err) < 0)
        bail("cannot send");
}

/* What a node has: the number of a run, or RUNS. */
static size_t run_of(size_t node)
{
    size_t i = 0;

    while (i < session.sent && session.to[i] != node)
        i++;
    return i < session.sent ? i : RUNS;
}

static void forget_run(size_t i)
{
    session.sent--;
    for (; i < session.sent; i++) {
        session.run[i] = session.run[i + 1];
        session.to[i] = session.to[i + 1];
    }
}

/* A node answers; returns the frame's number. */
static uint64_t answer(size_t node, int is_done)
{
    size_t i = run_of(node);
    struct msg_done m = {.status = !is_done, .elapsed_ns = took_ns};
    struct msg_run run;
    struct piece *p;

    if (i == RUNS)
        bail("node %zu has nothing", node);
    run = session.run[i];
    forget_run(i);
    m.id = run.id;
    p = distribution_done(d, node, &m, is_done);
    if (!p || p->frame->number != run.frame)
        bail("what a node has said is not known");
    if ((is_done ? distribution_feed_slot(d, node, &err)
                 : distribution_feed(d, &err))
        < 0)
        bail("cannot feed");
    return run.frame;
}

static uint64_t frame_at(size_t node)
{
    size_t i = run_of(node);

    return i < RUNS ? session.run[i].frame : UINT64_MAX;
}

static uint64_t units_at(size_t node)
{
    size_t i = run_of(node);

    return i < RUNS ? session.run[i].end - session.run[i].begin : 0;
}

/* Of what it had nothing is heard any more. */
static void lose(size_t node)
{
    while (run_of(node) < RUNS)
        forget_run(run_of(node));
    session.node[node].present = 0;
    if (distribution_lost(d, node, &err) < 0)
        bail("cannot lose");
}

/* --- one by one ----------------------------------------------------------- */

static void test_begun(void)
{
    start(1, 1);
    ok(distribution_wants_frame(d), "the first frame may begin");
    begin();
    ok(session.sent == NODES && !distribution_wants_frame(d),
       "and no other, while all have something of it");
    answer(1, 1);
    ok(distribution_wants_frame(d) && run_of(1) == RUNS,
       "one has nothing left: a frame is wanted before it helps");
    begin();
    ok(frame_at(1) == 1 && units_at(1) == 3,
       "it begins with its part of the next");
    ok(frame_at(0) == 0 && session.sent == NODES,
       "the others go on with what they have");
    answer(1, 1);
    ok(!distribution_wants_frame(d), "two frames at work are enough");
    ok(frame_at(1) == 1 && units_at(1) > 0,
       "then it helps who would be last with the second");
    answer(2, 1);
    ok(frame_at(2) == 1 && units_at(2) == 2, "the third one has its own");
    ok(!distribution_is_done(d) && distribution_frame(d)->number == 0,
       "what is done of a later frame waits");
    is_int((intmax_t)distribution_open(d), 2, "both are open");
    answer(0, 1);
    ok(distribution_is_done(d), "until that is done");
    is_int(distribution_close(d, &err), 0, "it comes out");
    is_int((intmax_t)distribution_frame(d)->number, 1,
           "the second is the first now");
    while (!distribution_is_done(d))
        answer(run_of(0) < RUNS ? 0 : run_of(1) < RUNS ? 1 : 2, 1);
    is_int(distribution_close(d, &err), 0, "it comes out, too");
    ok(distribution_open(d) == 0 && distribution_wants_frame(d)
           && distribution_frame(d)->number == 1,
       "no frame is left, and the last one can be looked at");
    distribution_destroy(d);
}

static void test_dry(void)
{
    start(2, 2);
    begin();
    answer(2, 1);
    answer(2, 1);
    ok(distribution_wants_frame(d), "one has nothing left");
    is_int(distribution_no_frame(d, &err), 0, "there is no other frame");
    ok(frame_at(2) == 0 && !distribution_wants_frame(d),
       "so it takes over what waits, and nobody asks again");
    is_int(distribution_ask(d, &err), 0, "until there may be one");
    ok(!distribution_wants_frame(d), "but only for who has nothing");
    answer(1, 1);
    answer(1, 1);
    ok(distribution_wants_frame(d), "then one is wanted");
    distribution_destroy(d);
}

static struct job_load_adjuster even;

static void start_known(void)
{
    static const struct cost_terms terms = {.wait = 10, .each = 1};

    start_with(&even, 2, 0);
    cost_expect(distribution_cost_of(d, 0), &terms, 0.02);
}

/* As people have it; pieces take 20 s.  What they took before. */
static uint64_t adjust_by_cost(void)
{
    uint64_t took = took_ns;
    double value[POLICY_PARAMS];

    policy_defaults(kinds_find("even"), value);
    adjust_by(&even, "even", value);
    took_ns = 20000000000u;
    return took;
}

/* Nothing is known of the command, until the first piece is back. */
static void test_learned(void)
{
    uint64_t took = adjust_by_cost();

    start_with(&even, 2, 0);
    begin();
    ok(session.sent == NODES && !distribution_wants_frame(d),
       "of a new command the first frame is cut alone");
    answer(1, 1);
    ok(distribution_wants_frame(d) && run_of(1) == RUNS
           && distribution_left(d) > 0,
       "with the first answer frames are cut as one: another is wanted before "
       "more of this one is sent");
    distribution_destroy(d);
    job_load_adjuster_clear(&even);
    took_ns = took;
}

/* What the command costs is known: frames are cut as one. */
static void test_joined(void)
{
    uint64_t took = adjust_by_cost();

    start_known();
    begin();
    begin();
    ok(session.sent == 0 && distribution_wants_frame(d),
       "nothing is cut while more frames may begin");
    begin();
    ok(session.sent == NODES && units_at(0) == UNITS && units_at(1) == UNITS
           && units_at(2) == UNITS && frame_at(0) == 0 && frame_at(1) == 1
           && frame_at(2) == 2,
       "then each node starts once: with a frame of its own");
    answer(0, 1);
    ok(distribution_is_done(d) && run_of(0) == RUNS
           && distribution_close(d, &err) == 0 && run_of(0) == RUNS
           && distribution_wants_frame(d),
       "the first comes out, and another may begin, before more is sent");
    begin();
    ok(frame_at(0) == 3 && units_at(0) == UNITS, "who is free has that");
    distribution_destroy(d);
    start_known();
    begin();
    is_int(distribution_no_frame(d, &err), 0, "there is but one frame");
    ok(session.sent == NODES && frame_at(2) == 0, "so all share that");
    distribution_destroy(d);
    job_load_adjuster_clear(&even);
    took_ns = took;
}

static void test_kept(void)
{
    struct frame kept = {.number = 1, .end = UNITS};

    start(2, 1);
    begin();
    answer(1, 1);
    distribution_keep(d, &kept);
    begun++;
    ok(distribution_open(d) == 2 && run_of(1) == RUNS,
       "one that a run before has done gives nobody work");
    is_int(distribution_ask(d, &err), 0, "is another one wanted?");
    ok(distribution_wants_frame(d), "it is");
    begin();
    ok(frame_at(1) == 2, "and begins");
    answer(0, 1);
    answer(2, 1);
    ok(distribution_is_done(d) && !distribution_is_kept(d)
           && distribution_close(d, &err) == 0,
       "the first one comes out");
    ok(distribution_is_done(d) && distribution_is_kept(d)
           && distribution_frame(d)->number == 1,
       "then the one of before");
    distribution_destroy(d);
}

static void test_lost(void)
{
    start(1, 1);
    begin();
    answer(1, 1);
    begin();
    ok(frame_at(0) == 0 && frame_at(1) == 1, "two frames are at work");
    lose(0);
    is_int(distribution_feed(d, &err), 0, "one of the first is lost");
    answer(1, 1);
    ok(frame_at(1) == 0, "who has done its part of the second does that first");
    lose(1);
    answer(2, 1);
    ok(frame_at(2) == 0, "and when it is lost, too, the last one");
    distribution_destroy(d);
}

/* A node that hangs at a later frame, having another piece of the first. */
static int is_late(void *arg, size_t node)
{
    return node == *(size_t *)arg;
}

static void test_overdue(void)
{
    size_t node = 1;
    const struct piece *p;

    start(1, 1);
    begin();
    answer(1, 1);
    begin();
    p = distribution_overdue(d, -1, 124, is_late, &node);
    ok(p && p->part.node == 1 && p->frame->number == 1,
       "one that hangs at a later frame is found, and which it is");
    distribution_destroy(d);
}

/* Bundles: one in hand, perhaps of the next frame. */
static void test_bundles(void)
{
    static const double one[POLICY_PARAMS] = {2};
    struct job_load_adjuster bundles;
    uint64_t frame = 0;

    adjust_by(&bundles, "manual", one);
    start_with(&bundles, 1, 1);
    begin();
    for (int i = 0; i < 6 && !distribution_wants_frame(d); i++)
        answer(0, 1);
    begin();
    ok(session.sent == 2 * NODES && frame_at(1) == 0,
       "each node has two bundles, whatever frames they are of");
    while (!distribution_is_done(d))
        frame = answer(run_of(0) < RUNS ? 0 : run_of(1) < RUNS ? 1 : 2, 1);
    is_int((intmax_t)frame, 0, "the frames' last bundles come back");
    distribution_destroy(d);
    job_load_adjuster_clear(&bundles);
}

/* --- whatever happens ----------------------------------------------------- */

static struct rng rng;
static unsigned char times[FRAMES][UNITS];
static uint64_t came_out;

/* The first frame is done: is each unit of it, once? */
static void come_out(void)
{
    size_t n;
    const struct piece *p = distribution_pieces(d, &n);
    uint64_t number = distribution_frame(d)->number;

    if (number != came_out++)
        bail("frame %ju is out of turn", (uintmax_t)number);
    for (size_t i = 0; i < n; i++)
        for (uint64_t u = p[i].part.units.begin; u < p[i].part.units.end; u++)
            if (p[i].part.state == PIECE_DONE)
                times[number][u]++;
    if (distribution_close(d, &err) < 0)
        bail("cannot close");
}

static int present(void)
{
    int n = 0;

    for (size_t i = 0; i < NODES; i++)
        n += session.node[i].present;
    return n;
}

static void befall(void)
{
    size_t node = (size_t)random_below(&rng, NODES);

    if (!session.node[node].present) {
        session.node[node].present = 1;
        if (distribution_returned(d, node, &err) < 0)
            bail("cannot return");
    } else if (present() > 1) {
        lose(node);
    }
}

static void go_on(void)
{
    while (distribution_open(d) > 0 && distribution_is_done(d))
        come_out();
    while (distribution_wants_frame(d) && begun < FRAMES)
        if (random_below(&rng, 8) > 0)
            begin();
        else if (distribution_open(d) > 0 && distribution_no_frame(d, &err) < 0)
            bail("cannot go on");
    if (begun == FRAMES && distribution_wants_frame(d)
        && distribution_no_frame(d, &err) < 0)
        bail("cannot go on");
}

static void one_run(uint64_t ahead)
{
    memset(times, 0, sizeof times);
    came_out = 0;
    start(ahead, (uint64_t)random_below(&rng, 5));
    for (go_on(); came_out < FRAMES; go_on()) {
        size_t i = (size_t)random_below(&rng, NODES);

        if (random_below(&rng, 10) == 0)
            befall();
        else if (run_of(i) < RUNS)
            (void)answer(i, random_below(&rng, 10) > 0);
        else if (session.sent == 0 && distribution_feed(d, &err) < 0)
            bail("cannot feed");
        for (size_t k = 0; k < NODES; k++)
            if (distribution_out(d, k) > 1)
                bail("a node has two pieces");
    }
    distribution_destroy(d);
}

static void test_random(uint64_t ahead)
{
    int once = 1;

    random_init(&rng, GENERATOR_JAVA, 7 + ahead);
    for (int k = 0; k < 50; k++) {
        one_run(ahead);
        for (size_t i = 0; i < FRAMES; i++)
            for (size_t u = 0; u < UNITS; u++)
                once = once && times[i][u] == 1;
    }
    ok(once, "%ju ahead: frames come out in order, each unit done once",
       (uintmax_t)ahead);
}

int main(void)
{
    if (slots_init(&slots, NODES, NULL) < 0)
        bail("no memory");
    test_begun();
    test_dry();
    test_learned();
    test_joined();
    test_kept();
    test_lost();
    test_overdue();
    test_bundles();
    for (uint64_t ahead = 0; ahead < 5; ahead++)
        test_random(ahead);
    slots_clear(&slots);
    return done();
}
