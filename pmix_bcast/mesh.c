/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

struct guest {
    LIST_ENTRY(guest) next;
    struct mesh *mesh;
    struct link *link;
    uint32_t broadcast; /* as it said */
    int has_said, greeted_due;
};

struct mesh {
    struct event_base *base;
    struct bcast_node *broadcast;
    struct exchange *exchange;
    LIST_HEAD(guest_list, guest) guests;
};

static struct link *release(struct guest *g)
{
    struct link *l = g->link;

    LIST_REMOVE(g, next);
    free(g);
    return l;
}

/* Is the one whom it asks for here? */
static int is_expected(const struct guest *g)
{
    const struct mesh *m = g->mesh;

    return g->broadcast == EXCHANGE_ID
               ? m->exchange != NULL
               : m->broadcast && bcast_node_id(m->broadcast) == g->broadcast;
}

/* What it says next is for the one whom it asks for. */
static void join(struct guest *g)
{
    struct mesh *m = g->mesh;
    uint32_t broadcast = g->broadcast;
    struct link *l = release(g);

    if (link_hold(l, 0) < 0)
        link_destroy(l);
    else if (broadcast == EXCHANGE_ID)
        exchange_join(m->exchange, l);
    else
        bcast_node_join(m->broadcast, l);
}

static void join_all(struct mesh *m)
{
    struct guest *g, *next;

    for (g = LIST_FIRST(&m->guests); g; g = next) {
        next = LIST_NEXT(g, next);
        if (g->has_said && is_expected(g))
            join(g);
    }
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct guest *g = arg;

    (void)bytes;
    if (h->type == LINK_GREET) {
        g->greeted_due = 1;
        link_wake(l);
        return 0;
    }
    if (h->type != LINK_HELLO || g->has_said)
        return -1;
    g->has_said = 1;
    g->broadcast = h->broadcast;
    if (is_expected(g))
        join(g);
    else
        (void)link_hold(l, 1); /* its chunks may come before our order */
    return 0;
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct guest *g = arg;

    (void)l;
    (void)fd;
    (void)at;
    if (!g->greeted_due)
        return 0;
    g->greeted_due = 0;
    h->type = LINK_GREETED;
    return 1;
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    (void)l;
    (void)why;
    (void)release(arg); /* frees itself */
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
    LIST_INIT(&m->guests);
    return m;
}

void mesh_take(void *arg, struct listener *l, int fd)
{
    struct mesh *m = arg;
    struct guest *g = calloc(1, sizeof *g);

    if (!g) {
        close(fd);
        return;
    }
    g->mesh = m;
    g->link = link_take(m->base, fd, l, &events, g);
    if (!g->link) {
        free(g);
        return;
    }
    LIST_INSERT_HEAD(&m->guests, g, next);
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
    while (!LIST_EMPTY(&m->guests))
        link_destroy(release(LIST_FIRST(&m->guests)));
    free(m);
    errno = saved;
}
