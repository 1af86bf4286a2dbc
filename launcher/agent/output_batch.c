/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/output_batch.h"
#include "launcher/agent/slot_send.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct output_batch {
    const struct slot_common *common;
    struct event
        *timer;  /* pending: the last message is younger than the time */
    uint64_t id; /* of the slice whose output waits */
    size_t n;
    uint8_t bytes[OUTPUT_BATCH_BYTES];
};

static int has_just_sent(const struct output_batch *b)
{
    return event_pending(b->timer, EV_TIMEOUT, NULL);
}

static void send_now(struct output_batch *b, const void *buf, size_t len)
{
    static const struct timeval gap = {0, OUTPUT_BATCH_MS * 1000};

    slot_send_output(b->common, b->id, buf, len);
    (void)event_add(b->timer, &gap); /* or the next is sent at once, too */
}

void output_batch_flush(struct output_batch *b)
{
    size_t n = b->n;

    b->n = 0;
    if (n > 0)
        send_now(b, b->bytes, n);
}

void output_batch_drop(struct output_batch *b)
{
    b->n = 0;
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    output_batch_flush(arg);
}

void output_batch_add(struct output_batch *b,
                      uint64_t id,
                      const void *buf,
                      size_t len)
{
    if (b->id != id || len > sizeof b->bytes - b->n)
        output_batch_flush(b);
    b->id = id;
    if (len > sizeof b->bytes || !has_just_sent(b)) {
        send_now(b, buf, len);
        return;
    }
    memcpy(b->bytes + b->n, buf, len);
    b->n += len;
}

struct output_batch *output_batch_create(const struct slot_common *common)
{
    struct output_batch *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->common = common;
    b->timer = evtimer_new(common->base, on_time, b);
    if (b->timer)
        return b;
    free(b);
    return NULL;
}

void output_batch_destroy(struct output_batch *b)
{
    if (!b)
        return;
    event_free(b->timer);
    free(b);
}
