/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/ring_test.h"

#include <stdlib.h>
#include <string.h>

/* Nobody is waited for who is not there. */
static void expect_all(struct ring_test *t)
{
    t->missing = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        t->answered[i] = !session_node(t->session, i)->present;
        t->missing += !t->answered[i];
    }
}

static void ask_ports(struct ring_test *t)
{
    struct writer w = {0};

    t->round = -1;
    expect_all(t);
    session_send_all(t->session, MSG_RING_OPEN, &w);
}

static void write_round(const struct ring_test *t, struct writer *w, uint32_t i)
{
    uint32_t to = ring_receiver(t->n, i, (unsigned)t->round);
    struct msg_ring m = {
        .receiver = to, .port = t->port[to], .ms = t->round_ms};

    if (!session_node(t->session, to)->present)
        m.port = 0;
    msg_write_ring(w, &m);
}

static void next_round(struct ring_test *t)
{
    if (++t->round == (int)t->rounds)
        return; /* nobody is missing: it is over */
    expect_all(t);
    for (uint32_t i = 0; i < t->n; i++)
        write_round(t, &t->out[i], i);
    session_send_each(t->session, MSG_RING, t->out, NULL);
}

static void count_ring(struct ring_test *t, size_t node)
{
    if (t->missing == 0 || t->answered[node])
        return;
    t->answered[node] = 1;
    if (--t->missing == 0)
        next_round(t);
}

int ring_test_start(struct ring_test *t, struct session *session, int ms)
{
    memset(t, 0, sizeof *t);
    t->session = session;
    t->n = (uint32_t)session_start_size(session);
    t->rounds = ring_rounds(t->n);
    if (t->rounds == 0)
        return 0;
    t->round_ms = (uint32_t)ms / t->rounds;
    t->answered = calloc(t->n, 1);
    t->port = calloc(t->n, sizeof *t->port);
    t->received = calloc((size_t)t->n * t->rounds, sizeof *t->received);
    t->out = calloc(session_size(session), sizeof *t->out);
    if (!t->answered || !t->port || !t->received || !t->out)
        return -1;
    ask_ports(t);
    return 0;
}

void ring_test_clear(struct ring_test *t)
{
    free(t->answered);
    free(t->port);
    free(t->out);
    free(t->received);
    memset(t, 0, sizeof *t);
}

int ring_test_message(struct ring_test *t,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    uint32_t port;
    double rate;

    if (type != MSG_RING_PORT && type != MSG_RANG)
        return 0;
    if (t->missing == 0 || t->answered[node]
        || (type == MSG_RING_PORT) != (t->round < 0))
        return 1; /* late, or out of turn */
    if (type == MSG_RING_PORT && msg_read_u32(&port, body, len) == 0
        && port <= UINT16_MAX)
        t->port[node] = (uint16_t)port;
    if (type == MSG_RANG && msg_read_rang(&rate, body, len) == 0)
        t->received[node * t->rounds + (size_t)t->round] = rate;
    count_ring(t, node);
    return 1;
}

void ring_test_lost(struct ring_test *t, size_t node)
{
    count_ring(t, node);
}

int ring_test_value(const struct ring_test *t,
                    size_t node,
                    double *bytes_per_s,
                    double *spread)
{
    struct ring_round round[RING_ROUNDS_MOST];

    for (unsigned k = 0; k < t->rounds; k++) {
        size_t to = ring_receiver(t->n, (uint32_t)node, k);

        round[k].received_per_s = t->received[node * t->rounds + k];
        round[k].sent_per_s = t->received[to * t->rounds + k];
    }
    return ring_value(round, t->rounds, bytes_per_s, spread);
}
