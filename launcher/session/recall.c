/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/recall.h"
#include "pmix_bcast/address.h"

#include <stdlib.h>

struct call {
    struct recall *recall;
    struct channel *channel; /* NULL: it is the callee's */
    uint32_t rank;
};

struct recall {
    const struct recall_events *on;
    void *arg;
    uint16_t port;
    uint32_t n;
    struct call call[];
};

static void on_opened(struct channel *c, void *arg)
{
    const struct call *call = arg;
    struct writer w = {0};

    write_u32(&w, call->recall->port);
    if (w.bad || channel_send(c, MSG_RECALL, w.buf, w.len) < 0)
        channel_hang_up(c);
    writer_clear(&w);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct call *call = arg;
    struct recall *r = call->recall;
    struct msg_ready m;

    if (type != MSG_READY || msg_read_ready(&m, body, len) < 0
        || m.rank != call->rank || m.agents != r->n) {
        channel_hang_up(c);
        return;
    }
    call->channel = NULL;
    r->on->ready(r->arg, c, &m);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct call *call = arg;

    (void)c;
    (void)why;
    call->channel = NULL;
    call->recall->on->failed(call->recall->arg);
}

static const struct channel_events events = {
    .opened = on_opened,
    .message = on_message,
    .closed = on_closed,
};

static int call_one(struct recall *r,
                    struct event_base *base,
                    const struct endpoint *e,
                    const struct secret *secret,
                    uint32_t rank)
{
    const struct parties parties = {PURPOSE_RECALL, FRONT_END, rank};
    struct address to;
    struct call *call = &r->call[rank];

    call->recall = r;
    call->rank = rank;
    if (address_parse(&to, e->address, e->port) == 0)
        call->channel = channel_call(base, (const struct sockaddr *)&to.at,
                                     to.len, secret, &parties, &events, call);
    return call->channel ? 0 : -1;
}

struct recall *recall_start(struct event_base *base,
                            const struct lingering *l,
                            const struct secret *secret,
                            uint16_t port,
                            const struct recall_events *on,
                            void *arg)
{
    struct recall *r = calloc(1, sizeof *r + l->n * sizeof r->call[0]);

    if (!r)
        return NULL;
    r->on = on;
    r->arg = arg;
    r->port = port;
    r->n = l->n;
    for (uint32_t i = 0; i < l->n; i++)
        if (call_one(r, base, &l->agent[i], secret, i) < 0) {
            recall_end(r);
            return NULL;
        }
    return r;
}

void recall_end(struct recall *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        struct channel *c = r->call[i].channel;

        if (c && channel_is_open(c))
            (void)channel_send(c, MSG_LEAVE, NULL, 0);
        channel_destroy(c);
    }
    free(r);
}
