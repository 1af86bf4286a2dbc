/* SPDX-License-Identifier: BSD-2-Clause */
/* A node of a broadcast: its order, what its peers say and are told, time. */
#include "pmix_bcast/bcast_node_state.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/route.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define HELD_S 1.0 /* how often home is told that we live */
#define DISK_S 600 /* a disk may take so long to write what it was given */

/* --- messages of a peer --------------------------------------------------- */

static int is_good_chunk(const struct bcast_node *b, const struct link_head *h)
{
    return h->broadcast == b->order.id && h->chunk < b->order.plan.chunks
           && h->size == bcast_copy_size(&b->copy, h->chunk);
}

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    struct peer *p = arg;
    struct bcast_node *b = p->node;

    (void)l;
    if (!is_good_chunk(b, h) || b->state != RECEIVING)
        return NULL;
    if (!relay_wants(b->relay, h->chunk)) {
        b->duplicates += h->size;
        return NULL;
    }
    if (!p->buffer)
        p->buffer = malloc(b->order.plan.chunk);
    return p->buffer; /* without memory it is lost, and pulled later */
}

/* It could not be stored, or its tag is not its own: -1 if the peer must not
 * send that. */
static int refuse_chunk(const struct peer *p, int why)
{
    if (why != EBADMSG) {
        bcast_node_fail(p->node, why, "");
        return 0;
    }
    if (p->rank == PLAN_NOBODY)
        bcast_node_fail(p->node, EBADMSG,
                        "home's file changes while it is read");
    return -1;
}

static int take_chunk(struct peer *p,
                      const struct link_head *h,
                      const uint8_t *bytes)
{
    struct bcast_node *b = p->node;

    if (!is_good_chunk(b, h))
        return -1;
    if (b->state != RECEIVING)
        return 0;
    if (bytes && relay_wants(b->relay, h->chunk)) {
        int why = bcast_copy_put(&b->copy, h->chunk, bytes, h->digest);

        if (why)
            return refuse_chunk(p, why);
    } else if (relay_wants(b->relay, h->chunk)) {
        return 0; /* there was no memory for it */
    }
    relay_got(b->relay, p->rank, h->chunk, (h->flags & LINK_AS_ROOT) != 0,
              clock_s());
    bcast_node_check(b);
    return 0;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct peer *p = arg;
    struct bcast_node *b = p->node;

    (void)l;
    if (h->broadcast != b->order.id || h->chunk >= b->order.plan.chunks)
        return -1;
    if (h->type == LINK_CHUNK)
        return take_chunk(p, h, bytes);
    if (h->type == LINK_PULL) {
        relay_asked(b->relay, p->rank, h->chunk);
    } else if (h->type == LINK_ABSENT) {
        b->refused++;
        relay_absent(b->relay, p->rank, h->chunk, clock_s());
    } else if (h->type == LINK_CANCEL) {
        relay_cancelled(b->relay, p->rank, h->chunk);
    } else {
        return -1;
    }
    return 0;
}

static const uint16_t link_type_of[] = {
    [RELAY_CHUNK] = LINK_CHUNK,     [RELAY_PULL] = LINK_PULL,
    [RELAY_ABSENT] = LINK_ABSENT,   [RELAY_CANCEL] = LINK_CANCEL,
    [RELAY_RELAYED] = LINK_RELAYED,
};

static int on_next(
    // cppcheck-suppress constParameter ; a callback has this type
    struct link *l,
    void *arg,
    struct link_head *h,
    int *fd,
    off_t *at)
{
    struct peer *p = arg;
    struct bcast_node *b = p->node;
    struct relay_item item;

    if (l != p->link)
        return 0;
    h->broadcast = b->order.id;
    if (p->hello_due) {
        p->hello_due = 0;
        h->type = LINK_HELLO;
        return 1;
    }
    if (b->state == FAILED || !relay_next(b->relay, p->rank, &item))
        return 0;
    b->pulls += item.kind == RELAY_PULL;
    h->type = link_type_of[item.kind];
    h->chunk = item.chunk;
    if (item.kind == RELAY_CHUNK) {
        memcpy(h->digest, b->copy.tag[item.chunk].bytes, TAG_BYTES);
        h->size = (uint32_t)bcast_copy_size(&b->copy, item.chunk);
        *fd = bcast_copy_fd(&b->copy);
        *at = (off_t)b->copy.offset[item.chunk];
    }
    return 1;
}

static int on_read(
    // cppcheck-suppress constParameter ; a callback has this type
    struct link *l,
    void *arg,
    const struct link_head *h,
    uint8_t *bytes)
{
    struct peer *p = arg;

    (void)l;
    return bcast_copy_read(&p->node->copy, h->chunk, bytes);
}

static void on_sent(struct link *l, void *arg, const struct link_head *h)
{
    struct peer *p = arg;

    (void)l;
    if (h->type == LINK_CHUNK)
        relay_sent(p->node->relay, p->rank, h->chunk, clock_s());
}

static void call_plain(struct peer *p);

static void speak_on(struct peer *p, struct link *l)
{
    p->link = l;
    p->hello_due = 0;
    p->unreachable = 0;
    link_wake(l);
}

// cppcheck-suppress constParameter ; a callback has this type
static void on_closed(struct link *l, void *arg, const char *why)
{
    struct peer *p = arg;

    (void)why; /* home says who is lost; we just look for other ways */
    if (l != p->link) {
        p->other = NULL;
        return;
    }
    p->link = NULL;
    if (p->hello_due && p->other) { /* nothing was said on it */
        speak_on(p, p->other);
        p->other = NULL;
        return;
    }
    link_destroy(p->other);
    p->other = NULL;
    if (p->hello_due && p->by_network) {
        call_plain(p);
        return;
    }
    relay_lost(p->node->relay, p->rank);
}

static const struct link_events events = {
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .read = on_read,
    .sent = on_sent,
    .closed = on_closed,
};

/* --- connections ---------------------------------------------------------- */

static void call(struct peer *p, const struct address *to)
{
    struct bcast_node *b = p->node;
    const struct parties parties = {
        .purpose = p->rank == PLAN_NOBODY ? PURPOSE_BROADCAST : PURPOSE_MESH,
        .caller = b->self,
        .callee = p->rank == PLAN_NOBODY ? FRONT_END : p->rank};

    if (to)
        p->link = link_call(b->s.base, (const struct sockaddr *)&to->at,
                            to->len, b->s.secret, &parties, &events, p);
    if (!p->link) {
        p->unreachable = 1; /* on_tick() tells the relay */
        b->some_unreachable = 1;
        return;
    }
    p->hello_due = 1;
    link_set_chunk(p->link, b->order.plan.chunk);
    link_set_packing(p->link, b->packing);
}

static struct peer *peer_of(struct bcast_node *b, uint32_t rank)
{
    struct peer *p;

    if (rank == PLAN_NOBODY)
        return &b->home;
    p = b->peer[rank];
    if (p)
        return p;
    p = b->peer[rank] = calloc(1, sizeof *p);
    if (p) {
        p->node = b;
        p->rank = rank;
    }
    return p;
}

/* Of two neighbours the one with the lower rank calls, so that there is one
 * connection; any other is called by whoever needs it, perhaps both at once. */
static int is_ours_to_call(const struct bcast_node *b, uint32_t rank)
{
    return rank > b->self
           || !plan_are_neighbours(&b->order.plan, b->self, rank);
}

static void call_peer(struct peer *p)
{
    const struct bcast_node *b = p->node;
    const struct wireup *w = b->s.wireup;
    int is_home = p->rank == PLAN_NOBODY;
    const struct endpoint *e = is_home ? NULL : &w->agent[p->rank];
    struct address to;
    enum route rc;

    if (p->link || p->unreachable)
        return;
    rc = route_find(&to, p->plain ? NULL : &w->agent[b->self].networks,
                    is_home ? &b->order.networks : &e->networks,
                    is_home ? b->s.home_address : e->address,
                    is_home ? b->order.port : e->port);
    p->by_network = rc == ROUTE_NETWORK;
    call(p, rc == ROUTE_NONE ? NULL : &to);
    if (!p->link && p->by_network)
        call_plain(p);
}

/* By Slurm's network, then. */
static void call_plain(struct peer *p)
{
    p->plain = 1;
    p->unreachable = 0;
    call_peer(p);
}

/* The relay has something for that peer. */
static void on_wake(void *arg, uint32_t rank)
{
    struct bcast_node *b = arg;
    struct peer *p = peer_of(b, rank);

    if (!p)
        return; /* without memory: the other pulls */
    if (p->link)
        link_wake(p->link);
    else if (rank == PLAN_NOBODY || is_ours_to_call(b, rank))
        call_peer(p);
}

static void call_if_ours(struct bcast_node *b, uint32_t rank)
{
    struct peer *p;

    if (rank == PLAN_NOBODY || rank < b->self)
        return;
    p = peer_of(b, rank);
    if (p)
        call_peer(p);
}

/* Those that pass chunks to us, and those to whom we pass some. */
static void call_neighbours(struct bcast_node *b)
{
    const struct plan *p = &b->order.plan;

    for (uint32_t j = 0; j < p->branches && j < p->chunks; j++) {
        uint32_t n = plan_children(p, b->self, j);

        call_if_ours(b, plan_parent(p, b->self, j));
        for (uint32_t i = 0; i < n; i++)
            call_if_ours(b, plan_child(p, b->self, j, i));
    }
}

void bcast_node_join(struct bcast_node *b, struct link *l)
{
    uint32_t rank = link_caller(l);
    struct peer *p;

    if (b->state == FAILED || rank >= b->order.plan.nodes || rank == b->self
        || !(p = peer_of(b, rank))) {
        link_destroy(l);
        return;
    }
    link_set_events(l, &events, p);
    link_set_chunk(l, b->order.plan.chunk);
    link_set_packing(l, b->packing);
    if (!p->link) {
        speak_on(p, l);
    } else { /* our calls have crossed: each speaks on its own */
        link_destroy(p->other);
        p->other = l;
    }
}

/* --- time ----------------------------------------------------------------- */

static int start_tick(struct bcast_node *b)
{
    struct timeval tv = {0, (suseconds_t)(RELAY_TICK * 1e6)};

    return event_add(b->tick, &tv);
}

static void send_held(struct bcast_node *b)
{
    struct writer w = {0};

    if (b->state == FINISHING && b->waited < DISK_S)
        b->waited++;
    bcast_write_number(&w, b->order.id,
                       b->order.plan.chunks - relay_missing(b->relay)
                           + b->copy.verified + bcast_copy_steps(&b->copy)
                           + b->waited);
    b->s.send(b->s.arg, BCAST_HELD, &w);
}

static void tell_unreachable(struct bcast_node *b)
{
    b->some_unreachable = 0;
    for (uint32_t i = 0; i < b->order.plan.nodes; i++)
        if (b->peer[i] && b->peer[i]->unreachable == 1) {
            b->peer[i]->unreachable = 2; /* told */
            relay_lost(b->relay, i);
        }
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct bcast_node *b = arg;
    int at_work = b->state != DONE && b->state != FAILED;
    double t = clock_s();

    (void)fd;
    (void)what;
    if (b->some_unreachable)
        tell_unreachable(b);
    if (at_work && t - b->held_sent >= HELD_S) {
        b->held_sent = t;
        send_held(b);
    }
    relay_tick(b->relay, t);
    if (at_work)
        (void)start_tick(b);
}

/* --- begin and end -------------------------------------------------------- */

/* All of it came with the order. */
static void take_content(struct bcast_node *b, const uint8_t *content)
{
    int why = bcast_copy_put_all(&b->copy, content);

    if (why)
        bcast_node_fail(b, why, "");
    else
        bcast_node_finish(b);
}

static int make_parts(struct bcast_node *b)
{
    const struct plan *p = &b->order.plan;
    struct relay_setup setup = {.plan = p,
                                .self = b->self,
                                .way = (enum pull_way)b->order.way,
                                .strict = (b->order.flags & ORDER_STRICT) != 0,
                                .start = clock_s(),
                                .random =
                                    (uint64_t)randombytes_random() << 32 | 1,
                                .wake = on_wake,
                                .arg = b};

    if (bcast_copy_init(&b->copy, &b->order, b->s.tree, b->s.secret) != 0)
        return -1;
    b->relay = relay_create(&setup);
    b->peer = calloc(p->nodes, sizeof(struct peer *));
    b->tick = evtimer_new(b->s.base, on_tick, b);
    b->verify = evtimer_new(b->s.base, bcast_node_on_verify, b);
    if (b->order.flags & ORDER_PACKED)
        b->packing = packing_create(PACK_NONE, p->chunks, p->chunk);
    if (!b->relay || !b->peer || !b->tick || !b->verify
        || (b->order.flags & ORDER_PACKED && !b->packing))
        return -1;
    b->home = (struct peer){.node = b, .rank = PLAN_NOBODY};
    return 0;
}

struct bcast_node *bcast_node_start(const struct bcast_node_setup *s,
                                    const struct bcast_order *order)
{
    struct bcast_node *b = calloc(1, sizeof *b);
    int why;

    if (!b) {
        tree_copy_destroy(s->tree);
        return NULL;
    }
    b->s = *s;
    b->order = *order;
    b->order.content = NULL;
    b->self = s->wireup->rank;
    b->held_sent = clock_s();
    if (make_parts(b) < 0 || start_tick(b) < 0) {
        bcast_node_destroy(b);
        return NULL;
    }
    why = order->plan.nodes != s->wireup->size ? EPROTO
                                               : bcast_copy_open(&b->copy);
    b->order.want = NULL;
    if (why) {
        bcast_node_fail(b, why, "");
        return b;
    }
    if (order->content || order->plan.bytes == 0) {
        take_content(b, order->content);
    } else {
        if (b->self < plan_used(&b->order.plan))
            call_peer(&b->home);
        call_neighbours(b);
    }
    return b;
}

uint32_t bcast_node_id(const struct bcast_node *b)
{
    return b->order.id;
}

static void lose(struct bcast_node *b, uint32_t rank)
{
    struct peer *p = b->peer[rank];

    if (p) {
        link_destroy(p->link);
        link_destroy(p->other);
        p->link = p->other = NULL;
        p->unreachable = 2;
    }
    relay_lost(b->relay, rank);
}

int bcast_node_receive(struct bcast_node *b,
                       enum bcast_kind kind,
                       const uint8_t *body,
                       size_t len)
{
    uint32_t id, number;
    uint64_t sum;

    if (kind == BCAST_SUM) {
        if (bcast_read_sum(&id, &sum, body, len) < 0 || id != b->order.id)
            return -1;
        b->sum = sum;
        b->has_sum = 1;
        bcast_node_check(b);
        return 0;
    }
    if (bcast_read_number(&id, &number, body, len) < 0 || id != b->order.id)
        return -1;
    if (kind == BCAST_LOST && number < b->order.plan.nodes) {
        if (number != b->self) /* else home has given us up: END will follow */
            lose(b, number);
        return 0;
    }
    return kind == BCAST_END ? 0 : -1;
}

struct tree_copy *bcast_node_take_tree(struct bcast_node *b)
{
    return b->state == DONE ? bcast_copy_take_tree(&b->copy) : NULL;
}

static void peer_clear(struct peer *p)
{
    link_destroy(p->link);
    link_destroy(p->other);
    free(p->buffer);
}

void bcast_node_destroy(struct bcast_node *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; b->peer && i < b->order.plan.nodes; i++)
        if (b->peer[i]) {
            peer_clear(b->peer[i]);
            free(b->peer[i]);
        }
    peer_clear(&b->home);
    packing_destroy(b->packing);
    bcast_node_stop_finishing(b);
    bcast_copy_clear(&b->copy);
    relay_destroy(b->relay);
    if (b->tick)
        event_free(b->tick);
    if (b->verify)
        event_free(b->verify);
    free(b->peer);
    free(b);
}
