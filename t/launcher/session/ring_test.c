/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring's rounds as the front end leads them; the nodes' part is played. */
#include "launcher/session/ring_test.h"
#include "fake_session.h"
#include "fault.h"
#include "tap.h"

static struct session session;

/* Node i says where it listens. */
static void say_port(struct ring_test *t, size_t node, uint32_t port)
{
    struct writer w = {0};

    write_u32(&w, port);
    ring_test_message(t, node, MSG_RING_PORT, w.buf, w.len);
    writer_clear(&w);
}

static void say_rate(struct ring_test *t, size_t node, double rate)
{
    struct writer w = {0};

    write_double(&w, rate);
    ring_test_message(t, node, MSG_RANG, w.buf, w.len);
    writer_clear(&w);
}

/* The rate of n2's link is a quarter of the others'. */
static double rate_between(uint32_t from, uint32_t to)
{
    return from == 2 || to == 2 ? 25 : 100;
}

static void begin(struct ring_test *t)
{
    session_make(&session);
    if (ring_test_start(t, &session, 300) < 0)
        bail("no ring");
}

static void ask_ports(struct ring_test *t)
{
    begin(t);
    for (size_t i = 0; i < SESSION_NODES; i++)
        say_port(t, i, 1000 + (uint32_t)i);
}

static void play_round(struct ring_test *t)
{
    unsigned round = (unsigned)t->round;

    for (uint32_t i = 0; i < SESSION_NODES; i++)
        if (session.node[i].present)
            say_rate(t, i,
                     rate_between(ring_sender(SESSION_NODES, i, round), i));
}

static void test_ports(void)
{
    struct ring_test t;
    struct msg_ring m;
    int right = 1;

    begin(&t);
    ok(t.missing == 4 && session.type[3] == MSG_RING_OPEN,
       "all are asked where they listen");
    for (size_t i = 0; i < 3; i++)
        say_port(&t, i, 1000 + (uint32_t)i);
    say_port(&t, 2, 7777);
    is_int(t.missing, 1, "an answer given twice counts once");
    say_rate(&t, 3, 5);
    is_int(t.missing, 1, "a rate before the first round does not");
    say_port(&t, 3, 1003);
    for (uint32_t i = 0; i < SESSION_NODES; i++) {
        uint32_t to = ring_receiver(SESSION_NODES, i, 0);

        right &= session.type[i] == MSG_RING
                 && msg_read_ring(&m, session.body[i], session.len[i]) == 0
                 && m.receiver == to && m.port == 1000 + to
                 && m.ms == 300 / t.rounds;
    }
    ok(right && t.missing == 4,
       "then each is told its partner, his port and a part of the time");
    ring_test_clear(&t);
}

static void test_slow_link(void)
{
    double value[SESSION_NODES] = {0}, spread;
    struct ring_test t;

    ask_ports(&t);
    for (unsigned round = 0; round < ring_rounds(SESSION_NODES); round++)
        play_round(&t);
    is_int(t.missing, 0, "after the last round the ring is over");
    for (size_t i = 0; i < SESSION_NODES; i++)
        if (ring_test_value(&t, i, &value[i], &spread) < 0)
            value[i] = -1;
    ok(value[2] == 25 && value[0] == 100 && value[1] == 100 && value[3] == 100,
       "a slow link slows its own node only");
    ring_test_clear(&t);
}

static void test_lost(void)
{
    double value, spread;
    struct ring_test t;
    struct msg_ring m;

    ask_ports(&t);
    session.node[1].present = 0;
    ring_test_lost(&t, 1);
    is_int(t.missing, 3, "who is lost is not waited for");
    play_round(&t);
    is_int(t.missing, 3, "nor in the next round");
    for (uint32_t i = 0; i < SESSION_NODES; i++)
        if (ring_receiver(SESSION_NODES, i, 1) == 1)
            ok(msg_read_ring(&m, session.body[i], session.len[i]) == 0
                   && m.port == 0,
               "and nobody sends to it");
    play_round(&t);
    play_round(&t);
    ok(t.missing == 0 && ring_test_value(&t, 0, &value, &spread) == 0
           && value == 100,
       "the others have their values");
    is_int(ring_test_value(&t, 1, &value, &spread), -1, "it has none");
    ring_test_clear(&t);
}

static void test_messages(void)
{
    struct ring_test t;

    ask_ports(&t);
    is_int(ring_test_message(&t, 0, MSG_PROBED, NULL, 0), 0,
           "what is not the ring's is left to others");
    ring_test_message(&t, 0, MSG_RANG, (const uint8_t *)"x", 1);
    ok(t.missing == 3 && t.received[0] == 0,
       "a rate that cannot be read is none");
    ring_test_clear(&t);
    ring_test_clear(&t);
}

static void test_no_memory(void)
{
    struct ring_test t;
    long n;

    session_make(&session);
    for (fault_at = n = 0; ring_test_start(&t, &session, 300) < 0;
         fault_at = ++n)
        ring_test_clear(&t);
    fault_at = -1;
    is_int(n, 4, "each allocation that fails is told");
    ring_test_clear(&t);
}

int main(void)
{
    test_ports();
    test_slow_link();
    test_lost();
    test_messages();
    test_no_memory();
    return done();
}
