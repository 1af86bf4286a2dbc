/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/mesh.h"
#include "pmix_bcast/pending.h"

#include <errno.h>
#include <stdlib.h>

struct mesh {
    struct event_base *base;
    struct bcast_node *broadcast;
    struct exchange *exchange;
    struct pending_list pending; /* each: the broadcast's number, as it said */
};

/* Is the one whom it asks for here? */
static int is_expected(const struct mesh *m, uint32_t number)
{
    return number == EXCHANGE_ID
               ? m->exchange != NULL
               : m->broadcast && bcast_node_id(m->broadcast) == number;
}

/* What it says next is for the one whom it asks for. */
static void join(struct pending *p)
{
    struct mesh *m = p->owner;
    uint32_t number = p->number;
    struct link *l = p->link;

    pending_leave(p);
    if (link_hold(l, 0) < 0)
        link_destroy(l);
    else if (number == EXCHANGE_ID)
        exchange_join(m->exchange, l);
    else
        bcast_node_join(m->broadcast, l);
}

static void join_all(struct mesh *m)
{
    struct pending *p, *next;

    for (p = LIST_FIRST(&m->pending.first); p; p = next) {
        next = LIST_NEXT(p, next);
        if (p->has_said && is_expected(m, p->number))
            join(p);
    }
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct pending *p = arg;

    (void)bytes;
    if (h->type == LINK_GREET) {
        p->answer_due = 1;
        link_wake(l);
        return 0;
    }
    if (h->type != LINK_HELLO || p->has_said)
        return -1;
    p->has_said = 1;
    p->number = h->broadcast;
    if (is_expected(p->owner, p->number))
        join(p);
    else
        (void)link_hold(l, 1); /* its chunks may come before our order */
    return 0;
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct pending *p = arg;

    (void)l;
    (void)fd;
    (void)at;
    if (!p->answer_due)
        return 0;
    p->answer_due = 0;
    h->type = LINK_GREETED;
    return 1;
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    (void)l;
    (void)why;
    pending_leave(arg); /* the link frees itself */
}

static const struct link_events events = {
    .taken = on_taken,
    .next = on_next,
    .closed = on_closed,
};

struct mesh *mesh_create(struct event_base *base)
{
    struct mesh *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->base = base;
    pending_init(&m->pending, m);
    return m;
}

void mesh_take(void *arg, struct listener *l, int fd)
{
    struct mesh *m = arg;

    /* Without memory the caller sees its call end, and that is all. */
    (void)pending_accept_link(&m->pending, m->base, fd, l, &events);
}

void mesh_set_broadcast(struct mesh *m, struct bcast_node *b)
{
    m->broadcast = b;
    join_all(m);
}

void mesh_set_exchange(struct mesh *m, struct exchange *x)
{
    m->exchange = x;
    join_all(m);
}

void mesh_destroy(struct mesh *m)
{
    int saved = errno;

    if (!m)
        return;
    pending_clear(&m->pending);
    free(m);
    errno = saved;
}
