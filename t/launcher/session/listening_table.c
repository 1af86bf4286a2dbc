/* SPDX-License-Identifier: BSD-2-Clause */
/* The second table of a step: made of what all nodes tell, or ended for all. */
#include "launcher/session/listening_table.h"

#include "fake_session.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TASKS 6

static struct session session;
static struct secret secret;
static struct event_base *base;
static struct listening_table table;
static int first, dropped;
static const uint32_t node_of[TASKS] = {0, 1, 2, 3, 0, 1};
static const uint32_t tasks[SESSION_NODES] = {2, 2, 1, 1};

const struct secret *session_secret(const struct session *s)
{
    (void)s;
    return &secret;
}

struct port_range session_ports(const struct session *s)
{
    (void)s;
    return (struct port_range){0, 0};
}

struct listen_at session_listen_at(const struct session *s)
{
    (void)s;
    return (struct listen_at){0};
}

void session_drop(struct session *s, size_t node)
{
    (void)s;
    (void)node;
    dropped++;
}

static void make_first(void)
{
    const struct conntable_layout layout = {SESSION_NODES, TASKS, node_of};
    struct adapter adapter[SESSION_NODES] = {0};
    uint8_t bytes[CONNTABLE_HEAD + TASKS * CONNTABLE_ENTRY];
    uint32_t local[SESSION_NODES];

    for (int i = 0; i < SESSION_NODES; i++)
        adapter[i].link = ADAPTER_IP;
    first = memfd_create("first", MFD_CLOEXEC);
    if (conntable_compose(bytes, &layout, adapter, local, NULL) < 0
        || write(first, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
        bail("no table");
}

static void begin(void)
{
    static const struct config_bcast config = {.small = 65536};

    session_make(&session);
    dropped = 0;
    if (listening_table_start(&table, base, &session, &config, first, tasks,
                              "1.0", 7)
        < 0)
        bail("no memory");
}

static void end(void)
{
    listening_table_stop(&table);
}

static void settle(void)
{
    for (int i = 0; i < 5; i++)
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

/* A node tells the ports base, base + 1 …, or that some tasks are missing. */
static void tell(size_t node, uint32_t round, uint16_t port, uint32_t missing)
{
    uint8_t bytes[4];
    struct msg_ports m = {round, missing, 0, bytes,
                          missing ? 0 : 2 * (size_t)tasks[node]};
    struct writer w = {0};

    put_u16(bytes, port);
    put_u16(bytes + 2, (uint16_t)(port + 1));
    msg_write_ports(&w, &m);
    if (!listening_table_message(&table, node, MSG_PORTS, w.buf, w.len))
        bail("nobody hears of it");
    writer_clear(&w);
    settle();
}

/* The last that all were sent is the end of that round. */
static int all_told(uint32_t round, uint32_t error)
{
    struct msg_ports_end m;
    int n = 0;

    for (int i = 0; i < SESSION_NODES; i++)
        n += session.type[i] == MSG_PORTS
             && msg_read_ports_end(&m, session.body[i], session.len[i]) == 0
             && m.round == round && m.error == error;
    return n == SESSION_NODES;
}

static uint32_t broadcast; /* its id */

static void take_order(void)
{
    struct bcast_order *order = malloc(sizeof *order);

    if (!order || bcast_read_order(order, session.body[0], session.len[0]) < 0)
        bail("no order");
    broadcast = order->id;
    free(order);
}

static void done_with(size_t node, uint32_t error)
{
    const struct bcast_done d = {.id = broadcast, .error = error};
    struct writer w = {0};

    bcast_write_done(&w, &d);
    if (!listening_table_message(&table, node, MSG_BCAST + BCAST_DONE, w.buf,
                                 w.len))
        bail("nobody hears of it");
    writer_clear(&w);
    settle();
}

/* Is the table in the order that node 0 got what it must be? */
static int is_table(uint16_t n0, uint16_t n1, uint16_t n2, uint16_t n3)
{
    const uint16_t want[TASKS] = {
        n0, n1, n2, n3, (uint16_t)(n0 + 1), (uint16_t)(n1 + 1)};
    struct bcast_order *order = malloc(sizeof *order);
    struct conntable t;
    struct conntable_entry e;
    uint32_t right = 0;

    if (!order || bcast_read_order(order, session.body[0], session.len[0]) < 0
        || !order->content
        || conntable_read(&t, "second", order->content, conntable_size(TASKS),
                          CONNTABLE_DIGEST, NULL)
               < 0
        || t.ports != CONNTABLE_OF_TASKS || !(order->flags & ORDER_FORCE)
        || !strstr(order->destination, "/1.0/conntable"))
        bail("no table");
    for (uint32_t i = 0; i < TASKS; i++)
        right +=
            conntable_lookup(&t, i, &e) == 0 && e.adapter.tcp_port == want[i];
    free(order);
    return right == TASKS;
}

static void bring(uint32_t round)
{
    tell(3, round, 3000, 0);
    tell(1, round, 1000, 0);
    tell(0, round, 10, 0);
    tell(2, round, 2000, 0);
    take_order();
}

static void test_rounds(void)
{
    size_t sent;

    begin();
    tell(3, 0, 3000, 0);
    tell(1, 0, 1000, 0);
    tell(0, 0, 10, 0);
    is_int((intmax_t)session.bytes, 0, "three of four nodes: nothing is sent");
    tell(2, 0, 2000, 0);
    ok(session.type[0] == MSG_BCAST + BCAST_ORDER
           && is_table(10, 1000, 2000, 3000),
       "all: the table of their ports goes to all, over the first one");
    take_order();
    for (size_t i = 0; i < 3; i++)
        done_with(i, 0);
    is_int((intmax_t)session.sent[0], 1, "no task goes on before all have it");
    done_with(3, 0);
    ok(all_told(0, 0), "then all do");
    sent = session.sent[0];
    tell(2, 0, 2000, 1);
    is_int((intmax_t)session.sent[0], (intmax_t)sent,
           "late news of that round is none");
    tell(3, 1, 9, 0);
    tell(1, 1, 8, 0);
    tell(0, 1, 7, 0);
    tell(2, 1, 6, 0);
    ok(is_table(7, 8, 6, 9), "they call again: there is another table");
    end();
}

static void test_late(void)
{
    begin();
    tell(0, 0, 10, 0);
    tell(1, 0, 1, 2);
    ok(all_told(0, ETIMEDOUT), "tasks that never call: it ends for all");
    tell(3, 1, 1, 0);
    ok(session.sent[3] == 2 && session.sent[0] == 1,
       "and who comes later hears so");
    end();
    begin();
    tell(0, 0, 10, 0);
    tell(0, 0, 10, 0);
    ok(all_told(0, ETIMEDOUT), "a node that tells twice has waited too long");
    end();
}

static void test_lost(void)
{
    begin();
    listening_table_lost(&table, 2, "its link is cut");
    is_int((intmax_t)session.bytes, 0, "a node is lost, nobody waits");
    tell(0, 0, 10, 0);
    ok(all_told(0, ECONNABORTED), "somebody calls: there will be no table");
    end();
    begin();
    listening_table_lost(&table, 2, "its link is cut");
    listening_table_returned(&table);
    bring(0);
    is_int(session.type[0], MSG_BCAST + BCAST_ORDER, "it is back: there will");
    listening_table_lost(&table, 2, "its link is cut");
    for (size_t i = 0; i < SESSION_NODES; i++)
        if (i != 2)
            done_with(i, 0);
    ok(all_told(0, ECONNABORTED), "lost while the table comes: told to all");
    end();
    begin();
    tell(0, 0, 10, 0);
    session.node[2].present = 0;
    listening_table_lost(&table, 2, "its link is cut");
    ok(session.sent[0] == 1 && session.sent[2] == 0,
       "lost while somebody waits: told to all who are there");
    end();
}

/* One that has no program, and the end of it all. */
static void test_programs(void)
{
    static const uint32_t one_out[SESSION_NODES] = {2, 2, 1, 0};
    static const struct config_bcast config = {.small = 65536};
    size_t sent;

    session_make(&session);
    if (listening_table_start(&table, base, &session, &config, first, one_out,
                              "1.0", 7)
        < 0)
        bail("no memory");
    listening_table_lost(&table, 3, "it has left");
    tell(0, 0, 10, 0);
    tell(1, 0, 10, 0);
    is_int((intmax_t)session.bytes, 0, "who has no part in it may be lost");
    tell(1, 0, 10, 2);
    ok(all_told(0, ETIMEDOUT), "and is not waited for");
    end();
    begin();
    listening_table_end(&table);
    ok(all_told(0, ECONNABORTED), "there are no more rounds: all hear so");
    sent = session.sent[2];
    tell(2, 1, 10, 0);
    is_int((intmax_t)session.sent[2], (intmax_t)sent + 1,
           "and who calls all the same, once more");
    end();
    begin();
    bring(0);
    listening_table_end(&table);
    for (size_t i = 0; i < SESSION_NODES; i++)
        done_with(i, 0);
    ok(all_told(0, 0), "a table that is on its way still comes");
    end();
}

static void test_bad(void)
{
    begin();
    bring(0);
    done_with(0, ENOSPC);
    for (size_t i = 1; i < SESSION_NODES; i++)
        done_with(i, 0);
    ok(all_told(0, ECONNABORTED), "a node cannot take it: told to all");
    end();
    begin();
    (void)listening_table_message(&table, 0, MSG_PORTS, (const uint8_t *)"", 0);
    is_int(dropped, 1, "an agent that does not keep to the protocol goes");
    ok(!listening_table_message(&table, 0, MSG_IDLE, NULL, 0),
       "what is for others is left to them");
    end();
}

int main(void)
{
    (void)alarm(60);
    base = event_base_new();
    make_first();
    test_rounds();
    test_late();
    test_lost();
    test_programs();
    test_bad();
    event_base_free(base);
    close(first);
    return done();
}
