/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/inbox.h"
#include "launcher/wire/protocol.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>

/* So that a burst of orders is answered once. */
#define TAKEN_MS 100

struct held { /* a message until the order before it has come */
    STAILQ_ENTRY(held) next;
    uint32_t after;
    uint16_t type;
    size_t len;
    uint8_t body[];
};

struct inbox {
    struct inbox_setup s;
    uint32_t number;   /* of the last order that has come */
    uint32_t after;    /* what is said now is for after this one */
    int by_front_only; /* who brings orders */
    struct event *tell;
    STAILQ_HEAD(held_list, held) held;
};

static void forget_held(struct inbox *i)
{
    struct held *h;

    while ((h = STAILQ_FIRST(&i->held)) != NULL) {
        STAILQ_REMOVE_HEAD(&i->held, next);
        free(h);
    }
    (void)event_del(i->tell);
}

/* --- in order ------------------------------------------------------------- */

static int hold(struct inbox *i, uint16_t type, const uint8_t *body, size_t len)
{
    struct held *h = malloc(sizeof *h + len);

    if (!h)
        return -1;
    h->after = i->after;
    h->type = type;
    h->len = len;
    if (len > 0)
        memcpy(h->body, body, len);
    STAILQ_INSERT_TAIL(&i->held, h, next);
    return 0;
}

static void release(struct inbox *i)
{
    struct held *h;

    while ((h = STAILQ_FIRST(&i->held)) != NULL && h->after <= i->number) {
        STAILQ_REMOVE_HEAD(&i->held, next);
        i->s.take(i->s.arg, h->type, h->body, h->len);
        free(h);
    }
}

static void take_order(struct inbox *i,
                       const struct msg_relay *m,
                       const uint8_t *body,
                       size_t len)
{
    size_t own_len;
    const uint8_t *own = relay_body(m, i->s.rank, &own_len);

    i->number = m->number;
    i->s.pass(i->s.arg, m, body, len);
    if (own)
        i->s.take(i->s.arg, m->type, own, own_len);
    release(i);
}

int inbox_front(struct inbox *i, uint16_t type, const uint8_t *body, size_t len)
{
    struct msg_relay m;

    if (type == MSG_RELAY) {
        if (msg_read_relay(&m, body, len) < 0)
            return -1;
        if (m.number > i->number)
            take_order(i, &m, body, len);
        return 0;
    }
    if (type == MSG_AFTER)
        return msg_read_u32(&i->after, body, len);
    if (type != MSG_LEAVE && (i->after > i->number || !STAILQ_EMPTY(&i->held)))
        return hold(i, type, body, len);
    i->s.take(i->s.arg, type, body, len);
    return 0;
}

int inbox_parent(struct inbox *i, const uint8_t *body, size_t len)
{
    const struct timeval soon = {0, TAKEN_MS * 1000};
    struct msg_relay m;

    if (msg_read_relay(&m, body, len) < 0)
        return -1;
    if (i->by_front_only || m.number != i->number + 1)
        return 0;
    if (!evtimer_pending(i->tell, NULL))
        (void)evtimer_add(i->tell, &soon); /* else it comes twice */
    take_order(i, &m, body, len);
    return 0;
}

static void on_tell(evutil_socket_t fd, short what, void *arg)
{
    const struct inbox *i = arg;

    (void)fd;
    (void)what;
    i->s.taken(i->s.arg, i->number);
}

/* --- begin and end -------------------------------------------------------- */

void inbox_away(struct inbox *i)
{
    forget_held(i);
    i->after = 0;
    i->by_front_only = 1;
}

void inbox_begin(struct inbox *i)
{
    forget_held(i);
    i->after = 0;
    i->by_front_only = 0;
}

struct inbox *inbox_create(const struct inbox_setup *setup)
{
    struct inbox *i = calloc(1, sizeof *i);

    if (!i)
        return NULL;
    i->s = *setup;
    STAILQ_INIT(&i->held);
    i->tell = evtimer_new(setup->base, on_tell, i);
    if (i->tell)
        return i;
    free(i);
    return NULL;
}

void inbox_destroy(struct inbox *i)
{
    if (!i)
        return;
    forget_held(i);
    event_free(i->tell);
    free(i);
}
