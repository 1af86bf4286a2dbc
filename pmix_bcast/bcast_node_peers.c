/* SPDX-License-Identifier: BSD-2-Clause */
/* A node of a broadcast: its order, its connections, time. */
#include "pmix_bcast/bcast_node_state.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/receivers.h"
#include "pmix_bcast/route.h"
#include "pmix_bcast/thread.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define HELD_S 1.0 /* how often home is told that we live */
#define DISK_S 600 /* a disk may take so long to write what it was given */
/* Connections to home that may end, and one more for so many chunks that came. */
#define CUTS_MAX   8u
#define CUT_CHUNKS 128u

static const struct link_events events;
static void call_peer(struct peer *p);
static void call_plain(struct peer *p);

static const struct networks *own_networks(const struct bcast_node *b)
{
    return &b->s.wireup->agent[b->self].networks;
}

/* Nothing goes by it any more. */
static void leave(struct rail *rail)
{
    const struct peer *p = rail->peer;

    rail_end(&p->node->rails, rail);
    rail->hello_due = 0;
    rail->sending = PLAN_NOBODY;
}

static void end_rail(struct rail *rail)
{
    struct link *l = rail->link;

    leave(rail);
    link_destroy(l);
}

static void end_rails(struct peer *p)
{
    for (unsigned i = 0; i < RAILS_MAX; i++)
        end_rail(&p->rail[i]);
    end_rail(&p->other);
}

/* Without memory for the seal the loop checks what comes. */
static void set_threads(struct bcast_node *b, struct rail *rail, struct link *l)
{
    if (b->receivers && !rail->seal)
        rail->seal = chunk_tag_seal(b->s.secret, b->order.id);
    link_set_receivers(l, b->receivers);
}

static void use(struct peer *p, struct rail *rail, struct link *l)
{
    struct bcast_node *b = p->node;

    link_set_events(l, &events, rail);
    set_threads(b, rail, l);
    rail_begin(&b->rails, rail, l);
}

static void speak_on(struct peer *p, struct rail *rail, struct link *l)
{
    use(p, rail, l);
    p->unreachable = 0;
    link_wake(l);
}

/* Nothing was said on our own call; has it called us meanwhile?  The buffer of that
 * rail stays with it, for the next one that calls. */
static int speak_on_other(struct peer *p)
{
    struct link *l;

    if (p->other.link)
        link_forget_place(p->other.link);
    l = p->other.link; /* NULL: without memory it has ended */
    leave(&p->other);
    if (l)
        speak_on(p, &p->rail[0], l);
    return l != NULL;
}

/* Perhaps nobody else has what home was to send.  But whatever spoils what comes
 * from there may spoil all of it. */
static void call_home_again(struct bcast_node *b)
{
    uint32_t held = b->order.plan.chunks - relay_missing(b->relay);

    if (b->state != RECEIVING || relay_missing(b->relay) == 0
        || b->self >= plan_used(&b->order.plan))
        return;
    if (b->cuts++ < CUTS_MAX + held / CUT_CHUNKS)
        call_peer(&b->home);
    else if (b->damaged)
        bcast_node_fail(b, 0,
                        "too many chunks were damaged on their way from the "
                        "front end: check this node's memory and network");
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct rail *rail = arg;
    struct peer *p = rail->peer;
    int in_vain = rail->hello_due; /* nothing was said on it */
    uint32_t sending = rail->sending;

    (void)why; /* home says who is lost; we just look for other ways */
    if (p->rank == PLAN_NOBODY)
        p->node->damaged |= link_is_changed(l); /* which frees itself */
    leave(rail);
    if (rail == &p->other)
        return;
    if (!in_vain)
        p->told = 0; /* the end of it may have been on its way */
    if (rails_open(p->rail) > 0) {
        if (sending != PLAN_NOBODY)
            relay_unsent(p->node->relay, p->rank, sending, clock_s());
        rails_wake(p->rail);
        return;
    }
    if (in_vain && speak_on_other(p))
        return;
    end_rails(p);
    if (in_vain && p->by_network) {
        call_plain(p);
        return;
    }
    relay_lost(p->node->relay, p->rank);
    if (p->rank == PLAN_NOBODY && !in_vain)
        call_home_again(p->node);
}

/* --- connections ---------------------------------------------------------- */

/* Returns 0, or -1 if that cannot even begin. */
static int call_on(struct rail *rail, const struct address *to)
{
    const struct peer *p = rail->peer;
    struct bcast_node *b = p->node;
    struct link *l;
    const struct parties parties = {
        .purpose = p->rank == PLAN_NOBODY ? PURPOSE_BROADCAST : PURPOSE_MESH,
        .caller = b->self,
        .callee = p->rank == PLAN_NOBODY ? FRONT_END : p->rank};

    l = link_call(b->s.base, (const struct sockaddr *)&to->at, to->len,
                  b->s.secret, &parties, &events, rail);
    if (!l)
        return -1;
    rail_begin(&b->rails, rail, l);
    rail->hello_due = 1;
    link_set_chunk(l, b->order.plan.chunk);
    link_set_packing(l, b->packing);
    set_threads(b, rail, l);
    link_set_fabric(l, b->fabric, 1);
    return 0;
}

static void peer_init(struct peer *p, struct bcast_node *b, uint32_t rank)
{
    *p = (struct peer){.node = b, .rank = rank};
    p->other = (struct rail){.peer = p, .sending = PLAN_NOBODY};
    for (unsigned i = 0; i < RAILS_MAX; i++)
        p->rail[i] = p->other;
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
    if (p)
        peer_init(p, b, rank);
    return p;
}

/* Of two neighbours the one with the lower rank calls, so that there is one
 * connection; any other is called by whoever needs it, perhaps both at once. */
static int is_ours_to_call(const struct bcast_node *b, uint32_t rank)
{
    return rank > b->self
           || !plan_are_neighbours(&b->order.plan, b->self, rank);
}

static enum route find_way(const struct peer *p,
                           unsigned rail,
                           struct address *to)
{
    const struct bcast_node *b = p->node;
    int is_home = p->rank == PLAN_NOBODY;
    const struct endpoint *e = is_home ? NULL : &b->s.wireup->agent[p->rank];

    return route_find(to, p->plain ? NULL : own_networks(b),
                      is_home ? &b->order.networks : &e->networks, rail,
                      is_home ? b->s.home_address : e->address,
                      is_home ? b->order.port : e->port);
}

static void call_peer(struct peer *p)
{
    struct address to;
    enum route way;

    if (p->rail[0].link || rails_open(p->rail) > 0 || p->unreachable)
        return;
    way = find_way(p, 0, &to);
    p->by_network = way == ROUTE_NETWORK;
    if (way != ROUTE_NONE && call_on(&p->rail[0], &to) == 0)
        return;
    if (p->by_network) {
        call_plain(p);
        return;
    }
    p->unreachable = 1; /* on_tick() tells the relay */
    p->node->some_unreachable = 1;
}

/* By Slurm's network, then. */
static void call_plain(struct peer *p)
{
    p->plain = 1;
    p->unreachable = 0;
    call_peer(p);
}

static int has_rails(const struct bcast_node *b, uint32_t rank)
{
    return b->order.flags & ORDER_RAILS
           && (rank == PLAN_NOBODY
               || plan_are_neighbours(&b->order.plan, b->self, rank));
}

/* Our call is answered, so that it is heard by the further networks, too. */
static void on_opened(struct link *l, void *arg)
{
    struct rail *rail = arg;
    struct peer *p = rail->peer;
    struct address to;

    (void)l;
    if (rail != &p->rail[0] || !rail->hello_due || !p->by_network
        || !has_rails(p->node, p->rank))
        return;
    for (unsigned i = 1; i < RAILS_MAX && find_way(p, i, &to) == ROUTE_NETWORK;
         i++)
        if (!p->rail[i].link) /* without one it goes by the others */
            (void)call_on(&p->rail[i], &to);
}

static const struct link_events events = {
    .opened = on_opened,
    .place = bcast_node_place,
    .ready = bcast_node_ready,
    .check = bcast_node_look,
    .taken = bcast_node_taken,
    .next = bcast_node_next,
    .read = bcast_node_read,
    .sent = bcast_node_sent,
    .closed = on_closed,
};

/* The relay has something for that peer. */
static void on_wake(void *arg, uint32_t rank)
{
    struct bcast_node *b = arg;
    struct peer *p = peer_of(b, rank);

    if (!p)
        return; /* without memory: the other pulls */
    rails_wake(p->rail);
    if (!p->rail[0].link && (rank == PLAN_NOBODY || is_ours_to_call(b, rank)))
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

/* One more call of a neighbour is a further rail. */
static struct rail *free_rail(struct peer *p)
{
    unsigned n = has_rails(p->node, p->rank) ? RAILS_MAX : 1;

    for (unsigned i = 0; i < n; i++)
        if (!p->rail[i].link)
            return &p->rail[i];
    return NULL;
}

void bcast_node_join(struct bcast_node *b, struct link *l)
{
    uint32_t rank = link_caller(l);
    struct rail *rail;
    struct peer *p;

    if (b->state == FAILED || rank >= b->order.plan.nodes || rank == b->self
        || !(p = peer_of(b, rank))) {
        link_destroy(l);
        return;
    }
    link_set_chunk(l, b->order.plan.chunk);
    link_set_packing(l, b->packing);
    rail = free_rail(p);
    if (rail) {
        speak_on(p, rail, l);
    } else { /* our calls have crossed: each speaks on its own */
        end_rail(&p->other);
        use(p, &p->other, l);
    }
    link_set_fabric(l, b->fabric, 1);
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
    rails_tick(&b->rails);
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

static void call_all(struct bcast_node *b)
{
    relay_begin(b->relay, clock_s());
    if (b->self < plan_used(&b->order.plan))
        call_peer(&b->home);
    call_neighbours(b);
    bcast_node_take_own(b);
}

static int waits_for_fabric(const struct bcast_node *b)
{
    return b->fabric && b->order.flags & ORDER_ANY_FABRIC;
}

static void add_fabric(const struct bcast_node *b, const struct peer *p)
{
    for (unsigned i = 0; i < RAILS_MAX; i++)
        if (p->rail[i].link)
            link_set_fabric(p->rail[i].link, b->fabric, 1);
    if (p->other.link)
        link_set_fabric(p->other.link, b->fabric, 1);
}

static void on_fabric(void *arg)
{
    struct bcast_node *b = arg;

    if (b->state == FAILED)
        return;
    if (waits_for_fabric(b))
        call_all(b);
    add_fabric(b, &b->home);
    for (uint32_t i = 0; i < b->order.plan.nodes; i++)
        if (b->peer[i])
            add_fabric(b, b->peer[i]);
}

/* Without it, and until it is there, all goes by TCP; but who asks for it by name
 * waits. */
static void open_fabric(struct bcast_node *b)
{
    enum transport t =
        b->order.flags & ORDER_ANY_FABRIC ? TRANSPORT_OFI : TRANSPORT_AUTO;

    if (b->order.flags & ORDER_FABRIC)
        b->fabric = fabric_open(
            b->s.base, t, b->s.wireup->agent[b->self].address, on_fabric, b);
}

/* Without them, or without memory for them, the loop does it alone. */
static void begin_threads(struct bcast_node *b)
{
    unsigned wish = b->order.flags >> ORDER_THREADS_SHIFT & THREADS_AUTO;
    unsigned cpus = thread_cpus(), most = threads_beside(wish, cpus);

    if (most > 0)
        b->receivers =
            receivers_create(b->s.base, threads_at_once(wish, cpus), most);
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

    if (bcast_copy_init(&b->copy, &b->order, b->s.begun, b->s.secret) != 0)
        return -1;
    b->relay = relay_create(&setup);
    b->peer = calloc(p->nodes, sizeof(struct peer *));
    b->tick = evtimer_new(b->s.base, on_tick, b);
    b->verify = evtimer_new(b->s.base, bcast_node_on_verify, b);
    begin_threads(b);
    if (b->order.flags & ORDER_PACKED)
        b->packing = packing_create(PACK_NONE, p->chunks, p->chunk);
    if (!b->relay || !b->peer || !b->tick || !b->verify
        || (b->order.flags & ORDER_PACKED && !b->packing))
        return -1;
    return 0;
}

struct bcast_node *bcast_node_start(const struct bcast_node_setup *s,
                                    const struct bcast_order *order)
{
    struct bcast_node *b = calloc(1, sizeof *b);
    int why;

    if (!b)
        return NULL;
    b->s = *s;
    b->order = *order;
    b->order.content = NULL;
    b->self = s->wireup->rank;
    b->held_sent = clock_s();
    rails_init(&b->rails, own_networks(b));
    peer_init(&b->home, b, PLAN_NOBODY);
    if (make_parts(b) < 0 || start_tick(b) < 0) {
        bcast_node_destroy(b);
        return NULL;
    }
    why = order->plan.nodes != s->wireup->size ? EPROTO
                                               : bcast_copy_open(&b->copy);
    b->tells = order->want && order->plan.shape == PLAN_STRIPES;
    b->order.want = b->order.origin = NULL;
    if (why) {
        bcast_node_fail_copy(b, why);
        return b;
    }
    if (order->flags & ORDER_BEGIN) {
        bcast_node_finish(b);
    } else if (order->content || order->plan.bytes == 0) {
        take_content(b, order->content);
    } else {
        bcast_node_find_own(b);
        open_fabric(b);
        if (!waits_for_fabric(b))
            call_all(b);
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
        end_rails(p);
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

static void rail_clear(struct rail *rail)
{
    free(rail->buffer);
    seal_destroy(rail->seal);
}

static void peer_clear(struct peer *p)
{
    end_rails(p);
    for (unsigned i = 0; i < RAILS_MAX; i++)
        rail_clear(&p->rail[i]);
    rail_clear(&p->other);
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
    bcast_node_end_own(b);
    receivers_destroy(b->receivers);
    fabric_close(b->fabric);
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
