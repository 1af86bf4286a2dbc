/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_orders.h - what an agent does for the test of the links by order of its
 * front end: opens its ring, takes part in a round, keeps what came out.
 */
#ifndef LAUNCHER_AGENT_RING_ORDERS_H
#define LAUNCHER_AGENT_RING_ORDERS_H

#include "launcher/agent/agent_ring.h"
#include "launcher/agent/agent_setup.h"
#include "launcher/wire/protocol.h"

struct ring_orders_setup {
    struct event_base *base;
    const struct agent_setup *agent;
    const struct wireup *wireup;
    const struct listen_at *at; /* where others reach us */
    /* Send what w holds to the front end, and clear it. */
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    void *arg;
};

struct ring_orders {
    struct ring_orders_setup s;
    struct agent_ring *ring; /* NULL: not open */
};

/* RING_OPEN, RING or KEEP_RING has come; -1 if it breaks the protocol. */
int ring_orders_receive(struct ring_orders *o,
                        enum protocol_type type,
                        const uint8_t *body,
                        size_t len);
void ring_orders_clear(struct ring_orders *o);

#endif
