/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the dispatcher decides reaches the nodes, and what they answer reaches
 * it.
 */
#include "launcher/run/distribution.h"
#include "fault.h"
#include "launcher/base/lines.h"
#include "run_session.h"
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

static const struct dispatch *held(void)
{
    return distribution_dispatch(d);
}

static void send_frame(uint64_t number)
{
    struct frame frame = {.number = number, .end = 10, .label = "test"};

    session.sent = 0;
    if (distribution_send(d, &frame, NULL, 0, &err) < 0)
        bail("cannot send");
}

static void start(void)
{
    make_distribution(1, 0);
    distribution_begin(d, &adjuster, NULL);
    send_frame(0);
}

static void test_sent(void)
{
    size_t n;
    struct piece *p;

    start();
    is_int((intmax_t)session.sent, NODES, "a frame is a slice a node");
    ok(session.run[1].begin == 5 && session.run[1].end == 8
           && session.to[1] == 1 && strcmp(session.run[1].label, "test") == 0,
       "each is sent its own, with the frame's label");
    p = distribution_pieces(d, &n);
    ok(n == NODES && p[2].part.units.begin == 8 && p[2].status == -1,
       "a piece is known as it was sent");
    answer_output(1);
    p = answer_done(1, 0);
    ok(p && p->part.state == PIECE_DONE && p->part.seconds == 2.5
           && p->part.back > 0 && spool_size(&p->out) == 6,
       "and what came back, with its time");
    is_str(distribution_name(d, 1), "n1", "nodes have names");
    distribution_destroy(d);
    distribution_destroy(NULL);
}

/* One that is not there when the work begins. */
static void test_absent(void)
{
    make_distribution(1, 0);
    session.node[0].present = 0;
    distribution_begin(d, &adjuster, NULL);
    send_frame(3);
    ok(session.sent == 2 && session.to[0] == 1 && session.run[0].frame == 3
           && session.run[0].end == 6,
       "a node that is not there gets nothing, the others its part");
    is_int(distribution_returned(d, 0, &err), 0, "it returns");
    send_frame(4);
    ok(session.sent == 3 && session.run[0].end == 5, "then it gets its part");
    distribution_destroy(d);
}

static void test_lines(void)
{
    char name[] = "/tmp/evenstep-distribution.XXXXXX";
    int fd = mkstemp(name);
    struct lines lines;

    if (fd < 0 || write(fd, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 20) != 20
        || lines_open(&lines, name, NULL, &err) < 0)
        bail("no file");
    make_distribution(1, 0);
    distribution_begin(d, &adjuster, &lines);
    send_frame(0);
    ok(session.input_len == 20
           && memcmp(session.input, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 20) == 0,
       "with lines each command is sent its own");
    distribution_destroy(d);
    lines_close(&lines);
    close(fd);
    unlink(name);
}

static int late[NODES];

static int is_late(void *arg, size_t node)
{
    (void)arg;
    return late[node];
}

static void test_overdue(void)
{
    const struct piece *p;

    start();
    memset(late, 0, sizeof late);
    ok(!distribution_overdue(d, INT64_C(1000000000000), 124, is_late, NULL),
       "nobody is late before the time is over");
    ok(!distribution_overdue(d, -1, 124, is_late, NULL),
       "nor while it is only to be asked");
    late[1] = 1;
    p = distribution_overdue(d, -1, 124, is_late, NULL);
    ok(p && p->part.node == 1 && p->status == 124, "then the piece is told");
    ok(!distribution_overdue(d, -1, 124, is_late, NULL), "once");
    distribution_lost(d, 1, &err);
    ok(dispatch_pool(held())->batch[0].failures == 1,
       "when its node is cut off, that counts as its failure");
    distribution_destroy(d);
}

static void test_give_up(void)
{
    make_distribution(2, 0);
    distribution_begin(d, &adjuster, NULL);
    send_frame(0);
    answer_done(1, 3);
    distribution_distrust(d, 1);
    is_int(distribution_feed(d, &err), 0, "one node's commands fail");
    ok(session.sent == NODES && dispatch_node(held(), 1)->out == 0,
       "it gets nothing more");
    is_int(distribution_retire(d, 2, &err), 0, "another one leaves");
    ok(dispatch_node(held(), 2)->out == 1, "when it has ended its piece");
    ok(distribution_lost(d, 0, &err) == 0 && session.to[session.sent - 1] == 1,
       "with nobody else it may try again");
    ok(distribution_lost(d, 1, &err) < 0 && err.kind == ES_ENV
           && strstr(err.what, "no node is left"),
       "that nobody is left is told");
    distribution_destroy(d);
}

static void test_create_no_memory(void)
{
    long n = 0;

    memset(&err, 0, sizeof err);
    for (d = NULL; !d; n++) {
        fault_at = n;
        d = distribution_create(&session, &slots, 1, 1, 0);
        fault_at = -1;
    }
    ok(n > 5, "each allocation of a new one may fail");
    distribution_begin(d, &adjuster, NULL);
    for (n = 0;; n++) {
        int rc;

        session.sent = 0;
        session.is_short = 1;
        fault_at = n;
        rc = distribution_send(d, &(struct frame){.end = 10}, NULL, 0, &err);
        fault_at = -1;
        if (rc == 0)
            break;
        if (err.kind != ES_ENV)
            bail("it is not told");
    }
    ok(n > 1 && dispatch_left(held()) == 10, "each of a frame may, too");
    distribution_destroy(d);
}

/* What a node says that does not count. */
static void test_not_counted(void)
{
    struct msg_output m = {.bytes = (const uint8_t *)"false\n", .len = 6};
    struct msg_done end = {0};
    const struct piece *p;

    start();
    m.id = end.id = session.run[0].id;
    ok(distribution_output(d, 1, &m, &err) == 0
           && !distribution_done(d, 1, &end, 1),
       "a node may not speak for another");
    m.id = end.id = UINT64_MAX;
    ok(distribution_output(d, 0, &m, &err) == 0
           && !distribution_done(d, 0, &end, 1),
       "nor of a slice that never was");
    answer_output(0);
    answer_done(0, 0);
    m.id = session.run[0].id;
    ok(distribution_output(d, 0, &m, &err) == 0 && !answer_done(0, 0),
       "nor of one that is done");
    is_int((intmax_t)dispatch_left(held()), 5, "none of that counts as done");
    answer_output(1);
    p = answer_done(1, 3);
    ok(p && p->part.state == PIECE_VOID && p->status == 3,
       "a command that failed makes its piece void");
    distribution_destroy(d);

    start();
    answer_output(0); /* half of it, then it is lost */
    session.node[0].present = 0;
    is_int(distribution_lost(d, 0, &err), 0, "a lost node's slice");
    ok(dispatch_pool(held())->units == 5 && session.sent == NODES,
       "is nobody's until the others have room");
    m.id = end.id = session.run[0].id;
    ok(distribution_output(d, 0, &m, &err) == 0
           && !distribution_done(d, 0, &end, 1),
       "and what it still says does not count");
    for (size_t i = 1; i < session.sent; i++) {
        answer_output(i);
        answer_done(i, 0);
        if (distribution_feed(d, &err) < 0)
            bail("nobody is fed");
    }
    ok(dispatch_left(held()) == 0 && session.sent > NODES,
       "they do it, and finish");
    send_frame(1);
    m.id = session.run[0].id - 1;
    ok(distribution_output(d, 1, &m, &err) == 0,
       "what belongs to a frame of before does not count");
    distribution_destroy(d);
}

static void test_no_memory(void)
{
    struct msg_output m = {.bytes = (const uint8_t *)"x", .len = 1};
    int rc;

    start();
    m.id = session.run[0].id;
    fault_at = 0;
    rc = distribution_output(d, 0, &m, &err);
    fault_at = -1;
    ok(rc == -1 && err.kind == ES_WORK && strstr(err.what, "output of a slice"),
       "without memory the run is told");
    distribution_destroy(d);
}

/* Two nodes of two slots, and one between them that has none. */
static void test_slots(void)
{
    static const uint32_t each[NODES] = {2, 0, 2};
    const struct slots one_each = slots;
    struct msg_done m = {.elapsed_ns = 1000000};
    struct piece *p;

    memset(load, 0, sizeof load);
    for (size_t i = 0; i < 4; i++)
        load[i] = 25;
    if (slots_init(&slots, NODES, each) < 0)
        bail("no memory");
    start();
    ok(session.sent == 4 && session.to[0] == 0 && session.to[1] == 0
           && session.to[2] == 2 && session.to[3] == 2,
       "each slot gets a slice, and a node without slots nothing");
    ok(session.run[0].slot == 0 && session.run[1].slot == 1
           && session.run[2].slot == 0 && session.run[3].slot == 1,
       "which its agent is told");
    is_int((intmax_t)distribution_out(d, 2), 2,
           "a node has out what its slots have");
    is_str(distribution_name(d, 3), "n2", "a slot has its node's name");
    m.id = session.run[3].id;
    ok(!distribution_done(d, 0, &m, 1), "another node's answer does not count");
    p = distribution_done(d, 2, &m, 1);
    ok(p && p->part.state == PIECE_DONE && p->part.node == 3,
       "its own does, whichever comes first");
    ok(distribution_lost(d, 0, &err) == 0 && distribution_out(d, 0) == 0,
       "with a node all its slots are lost");
    is_int((intmax_t)session.to[4], 2, "and another node does their part");
    ok(distribution_returned(d, 0, &err) == 0 && dispatch_may_send(held(), 0)
           && dispatch_may_send(held(), 1),
       "with it all are back");
    distribution_destroy(d);
    slots_clear(&slots);
    slots = one_each;
    memcpy(load, (const double[NODES]){50, 30, 20}, NODES * sizeof *load);
}

int main(void)
{
    if (slots_init(&slots, NODES, NULL) < 0)
        bail("no memory");
    test_sent();
    test_absent();
    test_lines();
    test_overdue();
    test_give_up();
    test_not_counted();
    test_no_memory();
    test_create_no_memory();
    test_slots();
    slots_clear(&slots);
    return done();
}
