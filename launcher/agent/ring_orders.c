/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/ring_orders.h"
#include "launcher/probe/probe_cache.h"

#include <stdio.h>

static void open_ring(struct ring_orders *o)
{
    struct writer w = {0};

    agent_ring_close(o->ring);
    o->ring = agent_ring_open(o->s.base, &o->s.agent->secret, o->s.wireup->rank,
                              o->s.agent->ports, o->s.at);
    write_u32(&w, o->ring ? agent_ring_port(o->ring) : 0);
    o->s.send(o->s.arg, MSG_RING_PORT, &w);
}

static void on_round(void *arg, double received_per_s)
{
    const struct ring_orders *o = arg;
    struct writer w = {0};

    write_double(&w, received_per_s);
    o->s.send(o->s.arg, MSG_RANG, &w);
}

static int begin_round(struct ring_orders *o, const uint8_t *body, size_t len)
{
    struct endpoint to;
    struct msg_ring m;

    if (msg_read_ring(&m, body, len) < 0 || m.receiver >= o->s.wireup->size)
        return -1;
    if (!o->s.wireup->agent) { /* not all have come */
        on_round(o, 0);
        return 0;
    }
    to = o->s.wireup->agent[m.receiver];
    to.port = (uint16_t)m.port;
    if (!o->ring
        || agent_ring_round(o->ring, m.port > 0 ? &to : NULL, m.receiver, m.ms,
                            on_round, o)
               < 0)
        on_round(o, 0);
    return 0;
}

/* Only root's agent may: probe_cache_put_ring() sees to it. */
static int keep(const struct ring_orders *o, const uint8_t *body, size_t len)
{
    struct probe_result ring = {.between = 1};
    struct es_error err = {0};
    struct probe_stamp now;
    struct probe_cache cache = {NULL, 0};
    struct msg_keep_ring m;
    struct writer w = {0};
    char node[sizeof now.node], text[TEXT_MAX] = "";

    if (msg_read_keep_ring(&m, body, len) < 0)
        return -1;
    cache.dir = m.cache;
    probe_measured(&ring, m.value, m.spread, "%s", m.what);
    probe_cache_node(node);
    if (probe_stamp_take(&now, node, "/proc", o->s.agent->sysfs, &err) < 0
        || probe_cache_put_ring(&cache, &now, &ring, &err) < 0)
        (void)snprintf(text, sizeof text, "%.500s", err.what);
    write_text(&w, text);
    o->s.send(o->s.arg, MSG_KEPT, &w);
    return 0;
}

int ring_orders_receive(struct ring_orders *o,
                        enum protocol_type type,
                        const uint8_t *body,
                        size_t len)
{
    switch (type) {
    case MSG_RING_OPEN:
        open_ring(o);
        return 0;
    case MSG_RING:
        return begin_round(o, body, len);
    case MSG_KEEP_RING:
        return keep(o, body, len);
    default:
        return -1;
    }
}

void ring_orders_clear(struct ring_orders *o)
{
    agent_ring_close(o->ring);
    o->ring = NULL;
}
