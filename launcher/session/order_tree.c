/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/order_tree.h"
#include "launcher/wire/order_message.h"
#include "launcher/wire/protocol.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>

/* Counted, so that nobody is late who was only not heard while we stood still. */
#define TICK_MS 200
#define LATE    (ORDER_LATE_MS / TICK_MS) /* ticks; the first may be short */
#define ADOPT   (ORDER_ADOPT_MS / TICK_MS)
/* Of what is not the bodies of an order, at most. */
#define AROUND 64u

struct kept { /* an order that not all have taken */
    STAILQ_ENTRY(kept) next;
    uint32_t number;
    uint32_t open; /* nodes that have not */
    unsigned tick; /* when it was sent */
    struct writer relay;
};

struct at_node {
    uint32_t taken;  /* all orders up to this one */
    uint32_t after;  /* it knows that they come before what it is told */
    unsigned helped; /* since this tick it is late; 0: it is not */
    char is_here, is_own, is_due, leaves;
};

struct order_tree {
    struct order_tree_setup s;
    uint32_t number; /* of the last order */
    unsigned ticks;
    struct event *tick;
    STAILQ_HEAD(kept_list, kept) kept;
    struct at_node node[];
};

/* --- what is kept --------------------------------------------------------- */

static void drop_first(struct order_tree *t)
{
    struct kept *k = STAILQ_FIRST(&t->kept);

    STAILQ_REMOVE_HEAD(&t->kept, next);
    writer_clear(&k->relay);
    free(k);
}

static void forget_taken(struct order_tree *t)
{
    while (!STAILQ_EMPTY(&t->kept) && STAILQ_FIRST(&t->kept)->open == 0)
        drop_first(t);
    if (STAILQ_EMPTY(&t->kept))
        (void)event_del(t->tick);
}

/* It has, or needs, none up to this one any more. */
static void settle(struct order_tree *t, size_t node, uint32_t number)
{
    struct at_node *v = &t->node[node];
    struct kept *k;

    STAILQ_FOREACH(k, &t->kept, next)
    if (k->number > v->taken && k->number <= number)
        k->open--;
    v->taken = number;
}

/* --- one's own children --------------------------------------------------- */

/* Its part of it, as every agent sends it. */
static void send_own(struct order_tree *t, size_t node, const struct writer *in)
{
    struct writer out = {0};
    struct msg_relay m;

    if (in->bad || msg_read_relay(&m, in->buf, in->len) < 0)
        out.bad = 1;
    else if (m.marks_len > 0 || m.n == 0)
        relay_cut(&out, &m, t->s.branches, (uint32_t)node);
    else
        msg_write_relay(&out, m.number, m.type, m.bodies + 4, m.bodies_len - 4);
    t->s.send(t->s.arg, node, MSG_RELAY, &out);
}

/* What it lacks. */
static void help(struct order_tree *t, size_t node)
{
    struct at_node *v = &t->node[node];
    struct kept *k;

    STAILQ_FOREACH(k, &t->kept, next)
    if (k->number > v->taken)
        send_own(t, node, &k->relay);
    settle(t, node, t->number);
}

static void adopt(struct order_tree *t, size_t node)
{
    struct at_node *v = &t->node[node];

    if (v->is_own || !v->is_here)
        return;
    v->is_own = 1;
    help(t, node);
}

/* Give fn each child of a node. */
static void each_child(struct order_tree *t,
                       size_t node,
                       void (*fn)(struct order_tree *t, size_t node))
{
    uint64_t first = (uint64_t)t->s.branches * (node + 1);

    for (uint64_t i = first; i < first + t->s.branches && i < t->s.n; i++)
        fn(t, (size_t)i);
}

static int has_parent(const struct order_tree *t, size_t node)
{
    uint32_t parent = order_parent(t->s.branches, (uint32_t)node);

    return parent == UINT32_MAX || t->node[parent].is_here;
}

/* It is late, or its parent is. */
static void rescue(struct order_tree *t, size_t node)
{
    struct at_node *v = &t->node[node];

    if (v->is_own || !v->is_here)
        return;
    if (!has_parent(t, node)
        || (v->helped > 0 && t->ticks - v->helped >= ADOPT)) {
        adopt(t, node);
        return;
    }
    if (v->helped == 0)
        v->helped = t->ticks;
    help(t, node);
}

/* Is it the first on its way from us who lacks it? */
static int is_first_without(const struct order_tree *t,
                            size_t node,
                            uint32_t number)
{
    uint32_t parent = order_parent(t->s.branches, (uint32_t)node);
    const struct at_node *v = &t->node[node];

    return v->is_here && !v->is_own && v->taken < number
           && (!has_parent(t, node) || t->node[parent].taken >= number);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct order_tree *t = arg;
    struct kept *k = STAILQ_FIRST(&t->kept);

    (void)fd;
    (void)what;
    t->ticks++;
    if (!k || t->ticks - k->tick < LATE)
        return;
    k->tick = t->ticks; /* as much again for those who have it from them */
    for (size_t i = 0; i < t->s.n; i++)
        t->node[i].is_due = (char)is_first_without(t, i, k->number);
    for (size_t i = 0; i < t->s.n; i++)
        if (t->node[i].is_due) {
            rescue(t, i);
            each_child(t, i, rescue);
        }
    forget_taken(t);
}

/* --- orders --------------------------------------------------------------- */

static uint32_t count_open(const struct order_tree *t)
{
    uint32_t n = 0;

    for (size_t i = 0; i < t->s.n; i++)
        n += t->node[i].is_here && !t->node[i].is_own;
    return n;
}

/* If it cannot be, all must have it from us. */
static void keep(struct order_tree *t, struct writer *relay)
{
    const struct timeval tv = {0, TICK_MS * 1000};
    struct kept *k = calloc(1, sizeof *k);

    if (!k
        || (!evtimer_pending(t->tick, NULL) && event_add(t->tick, &tv) < 0)) {
        free(k);
        for (size_t i = 0; i < t->s.n; i++)
            if (!t->node[i].is_own && t->node[i].is_here) {
                adopt(t, i);
                send_own(t, i, relay);
            }
        writer_clear(relay);
        return;
    }
    *k = (struct kept){.number = t->number,
                       .open = count_open(t),
                       .tick = t->ticks,
                       .relay = *relay};
    STAILQ_INSERT_TAIL(&t->kept, k, next);
}

static void send_relay(struct order_tree *t, struct writer *relay)
{
    for (size_t i = 0; i < t->s.n; i++)
        if (!has_parent(t, i))
            adopt(t, i); /* who had to leave has left */
    for (size_t i = 0; i < t->s.n; i++)
        if (t->node[i].is_own && t->node[i].is_here) {
            send_own(t, i, relay);
            settle(t, i, t->number);
        }
    if (count_open(t) > 0)
        keep(t, relay);
    else
        writer_clear(relay);
}

/* One that is as large as a message may be goes without an envelope. */
static void send_plain(struct order_tree *t,
                       uint16_t type,
                       const struct writer *w)
{
    for (size_t i = 0; i < t->s.n; i++) {
        struct writer out = {.bad = w->bad};

        if (!t->node[i].is_here)
            continue;
        order_tree_before(t, i);
        if (!w->bad && w->len > 0) {
            out.buf = malloc(w->len);
            out.bad = !out.buf;
            out.len = out.cap = w->len;
            if (out.buf)
                memcpy(out.buf, w->buf, w->len);
        }
        t->s.send(t->s.arg, i, type, &out);
    }
}

void order_tree_send(struct order_tree *t, uint16_t type, struct writer *w)
{
    struct writer relay = {0};

    for (size_t i = 0; type == MSG_LEAVE && i < t->s.n; i++)
        t->node[i].leaves = 1;
    if (w->bad || w->len > MESSAGE_BODY_MAX - AROUND) {
        send_plain(t, type, w);
    } else {
        msg_write_relay(&relay, ++t->number, type, w->buf, w->len);
        send_relay(t, &relay);
    }
    writer_clear(w);
}

/* So many nodes at once that their bodies fit into a message. */
static uint32_t fitting(const struct order_tree *t,
                        const struct writer *const body[],
                        uint32_t first)
{
    size_t len = AROUND;
    uint32_t i = first;

    for (; i < t->s.n; i++) {
        len += body[i] ? body[i]->len + 12 : 0;
        if (len > MESSAGE_BODY_MAX && i > first)
            break;
    }
    return i - first;
}

static void send_some(struct order_tree *t,
                      uint16_t type,
                      const struct writer *const body[])
{
    for (uint32_t i = 0, n; i < t->s.n; i += n) {
        struct writer relay = {0};

        n = 1;
        if (!body[i])
            continue;
        n = fitting(t, body, i);
        msg_write_relay_each(&relay, ++t->number, type, body + i, i, n);
        send_relay(t, &relay);
    }
}

void order_tree_send_each(struct order_tree *t,
                          uint16_t type,
                          struct writer w[],
                          const char to[])
{
    const struct writer **body = calloc(t->s.n, sizeof *body);

    for (size_t i = 0; i < t->s.n; i++) {
        int goes = t->node[i].is_here && (!to || to[i]);

        t->node[i].leaves |= (char)(goes && type == MSG_LEAVE);
        if (body && goes && !w[i].bad) {
            body[i] = &w[i];
        } else if (goes) { /* as it is: the node is lost */
            order_tree_before(t, i);
            t->s.send(t->s.arg, i, type, &w[i]);
        }
    }
    if (body)
        send_some(t, type, body);
    free(body);
    for (size_t i = 0; i < t->s.n; i++)
        writer_clear(&w[i]);
}

uint32_t order_tree_number(const struct order_tree *t)
{
    return t->number;
}

void order_tree_before(struct order_tree *t, size_t node)
{
    struct at_node *v = &t->node[node];
    struct writer w = {0};

    if (!v->is_here || v->is_own || v->taken >= t->number
        || v->after == t->number)
        return;
    v->after = t->number;
    write_u32(&w, t->number);
    t->s.send(t->s.arg, node, MSG_AFTER, &w);
}

/* --- what becomes of nodes ------------------------------------------------ */

int order_tree_taken(struct order_tree *t, size_t node, uint32_t number)
{
    if (number > t->number)
        return -1;
    if (number > t->node[node].taken) {
        t->node[node].helped = 0;
        settle(t, node, number);
    }
    forget_taken(t);
    return 0;
}

void order_tree_lost(struct order_tree *t, size_t node)
{
    struct at_node *v = &t->node[node];

    if (!v->is_here)
        return;
    settle(t, node, t->number);
    v->is_here = 0;
    if (!v->leaves || STAILQ_EMPTY(&t->kept))
        each_child(t, node, adopt);
    forget_taken(t);
}

void order_tree_returned(struct order_tree *t, size_t node)
{
    t->node[node] =
        (struct at_node){.taken = t->number, .is_here = 1, .is_own = 1};
}

/* --- begin and end -------------------------------------------------------- */

struct order_tree *order_tree_create(const struct order_tree_setup *setup)
{
    struct order_tree *t = calloc(1, sizeof *t + setup->n * sizeof t->node[0]);

    if (!t)
        return NULL;
    t->s = *setup;
    STAILQ_INIT(&t->kept);
    t->tick = event_new(setup->base, -1, EV_PERSIST, on_tick, t);
    if (!t->tick) {
        free(t);
        return NULL;
    }
    t->number = setup->number;
    for (uint32_t i = 0; i < setup->n; i++) {
        t->node[i].taken = setup->number;
        t->node[i].is_here = 1;
        t->node[i].is_own = order_parent(setup->branches, i) == UINT32_MAX;
    }
    return t;
}

void order_tree_destroy(struct order_tree *t)
{
    if (!t)
        return;
    while (!STAILQ_EMPTY(&t->kept))
        drop_first(t);
    event_free(t->tick);
    free(t);
}
