/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/simulate.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/feed.h"
#include "pmix_bcast/relay.h"

#include <stdlib.h>
#include <string.h>

#define DETECTION 0.003 /* s until the others know that a node is dead */
#define SLOWDOWN  4.0   /* of a slow node */
#define FEED_TICK 0.01
#define PATIENCE  50.0 /* give up at so many times the data's time on a link */

enum event_kind { LINK_FREE, PEER_READY, ARRIVAL, CONTROL, TICK, FEED, DEATH };

struct event {
    double at;
    uint32_t node, peer, chunk;
    uint8_t kind, detail; /* detail: as_root, or enum relay_kind */
};

struct heap {
    struct event *e;
    size_t n, cap;
};

struct port {
    double rate, in_free, done;
    uint32_t *ready; /* peers with something to be sent, in turn */
    uint32_t first, n, cap;
    uint8_t busy, dead, slow;
};

struct node {
    struct world *world;
    struct relay *relay;
    uint32_t id;
};

struct world {
    const struct simulation *s;
    struct simulated *out;
    struct heap heap;
    struct port *port; /* of each node, and home's behind the last */
    struct node *node;
    struct feed *feed;
    uint64_t *offset;
    double now;
    uint32_t left; /* live nodes that have not all */
    int bad;
};

/* --- events, the earliest first ------------------------------------------- */

static void push(struct world *w, struct event e)
{
    struct heap *h = &w->heap;
    size_t i = h->n;
    struct event *grown =
        array_grow(h->e, &h->cap, h->n + 1, sizeof *grown, SIZE_MAX);

    if (!grown) {
        w->bad = 1;
        return;
    }
    h->e = grown;
    h->n++;
    for (; i > 0 && h->e[(i - 1) / 4].at > e.at; i = (i - 1) / 4)
        h->e[i] = h->e[(i - 1) / 4];
    h->e[i] = e;
}

static struct event pop(struct heap *h)
{
    struct event first = h->e[0], last = h->e[--h->n];
    size_t i = 0;

    for (;;) {
        size_t least = i * 4 + 1, end = least + 4;

        if (least >= h->n)
            break;
        if (end > h->n)
            end = h->n;
        for (size_t c = least + 1; c < end; c++)
            if (h->e[c].at < h->e[least].at)
                least = c;
        if (h->e[least].at >= last.at)
            break;
        h->e[i] = h->e[least];
        i = least;
    }
    h->e[i] = last;
    return first;
}

static double chunk_bytes(const struct world *w, uint32_t chunk)
{
    return (double)(w->offset[chunk + 1] - w->offset[chunk]);
}

static uint32_t home_id(const struct world *w)
{
    return w->s->plan.nodes;
}

/* --- sending -------------------------------------------------------------- */

static void add_ready(struct world *w, uint32_t id, uint32_t peer)
{
    struct port *p = &w->port[id];

    if (p->n == p->cap) {
        uint32_t cap = p->cap * 2 + 8;
        uint32_t *grown = malloc(cap * sizeof *grown);

        if (!grown) {
            w->bad = 1;
            return;
        }
        for (uint32_t i = 0; i < p->n; i++)
            grown[i] = p->ready[(p->first + i) % p->cap];
        free(p->ready);
        p->ready = grown;
        p->first = 0;
        p->cap = cap;
    }
    p->ready[(p->first + p->n++) % p->cap] = peer;
}

/* Send a chunk now: when it arrives, and when the link may take the next. */
static void transmit(
    struct world *w, uint32_t from, uint32_t to, uint32_t chunk, int as_root)
{
    const struct simulation *s = w->s;
    struct port *out = &w->port[from], *in = &w->port[to];
    double bytes = chunk_bytes(w, chunk);
    double sent = w->now + s->per_message + bytes / out->rate;
    double begin = w->now + s->per_message + s->latency, ready;

    if (begin < in->in_free)
        begin = in->in_free;
    in->in_free = begin + s->per_message + bytes / in->rate;
    if (in->in_free < sent + s->latency)
        in->in_free = sent + s->latency;
    ready = in->in_free - s->latency - bytes / in->rate;
    if (ready < sent)
        ready = sent;
    out->busy = 1;
    push(w, (struct event){sent, from, to, chunk, LINK_FREE, 0});
    push(w, (struct event){ready, from, to, chunk, PEER_READY, 0});
    push(w, (struct event){in->in_free, to, from, chunk, ARRIVAL,
                           (uint8_t)as_root});
    if (from == home_id(w))
        w->out->home_bytes += (uint64_t)bytes;
}

static void send_control(struct world *w,
                         uint32_t from,
                         uint32_t peer,
                         const struct relay_item *item)
{
    uint32_t to = peer == PLAN_NOBODY ? home_id(w) : peer;

    if (item->kind == RELAY_PULL)
        w->out->pulls++;
    if (item->kind == RELAY_ABSENT)
        w->out->refused++;
    push(w, (struct event){w->now + w->s->latency, to, from, item->chunk,
                           CONTROL, (uint8_t)item->kind});
}

static void send_from_home(struct world *w)
{
    struct port *p = &w->port[home_id(w)];
    struct feed_give g;

    if (p->busy)
        return;
    for (uint32_t v = 0; v < plan_used(&w->s->plan); v++) {
        double backlog = w->port[v].in_free - w->now;

        feed_queued(w->feed, v,
                    backlog > 0 ? (uint64_t)(backlog * w->port[v].rate) : 0);
    }
    if (feed_next(w->feed, &g, w->now))
        transmit(w, home_id(w), g.node, g.chunk, g.as_root);
}

static void send_from(struct world *w, uint32_t id)
{
    struct port *p = &w->port[id];

    if (id == home_id(w)) {
        send_from_home(w);
        return;
    }
    while (!p->busy && p->n > 0) {
        uint32_t peer = p->ready[p->first];
        struct relay_item item;

        p->first = (p->first + 1) % p->cap;
        p->n--;
        if (!relay_next(w->node[id].relay, peer, &item))
            continue;
        if (item.kind == RELAY_CHUNK) {
            transmit(w, id, peer, item.chunk, 0);
        } else {
            send_control(w, id, peer, &item);
            add_ready(w, id, peer); /* there may be more */
        }
    }
}

static void on_wake(void *arg, uint32_t peer)
{
    struct node *n = arg;

    add_ready(n->world, n->id, peer);
}

/* --- events --------------------------------------------------------------- */

static void arrive(struct world *w, const struct event *e)
{
    struct node *n = &w->node[e->node];
    uint32_t from = e->peer == home_id(w) ? PLAN_NOBODY : e->peer;

    if (!relay_wants(n->relay, e->chunk))
        w->out->duplicates += (uint64_t)chunk_bytes(w, e->chunk);
    relay_got(n->relay, from, e->chunk, e->detail, w->now);
    if (relay_missing(n->relay) == 0 && w->port[n->id].done <= 0) {
        w->port[n->id].done = w->now;
        w->left--;
    }
    send_from(w, n->id);
}

static void control(struct world *w, const struct event *e)
{
    struct relay *r;

    if (e->node == home_id(w)) {
        if (e->detail == RELAY_RELAYED)
            feed_relayed(w->feed, e->peer, e->chunk, w->now);
        send_from_home(w);
        return;
    }
    r = w->node[e->node].relay;
    if (e->detail == RELAY_PULL)
        relay_asked(r, e->peer, e->chunk);
    else if (e->detail == RELAY_ABSENT)
        relay_absent(r, e->peer, e->chunk, w->now);
    else if (e->detail == RELAY_CANCEL)
        relay_cancelled(r, e->peer, e->chunk);
    send_from(w, e->node);
}

static void die(struct world *w, uint32_t id)
{
    if (w->port[id].dead == 1) { /* now the others know */
        for (uint32_t v = 0; v < w->s->plan.nodes; v++)
            if (!w->port[v].dead)
                relay_lost(w->node[v].relay, id);
        feed_lost(w->feed, id);
        return;
    }
    w->port[id].dead = 1;
    if (w->port[id].done <= 0)
        w->left--;
    push(w, (struct event){w->now + DETECTION, id, 0, 0, DEATH, 0});
}

static void handle(struct world *w, const struct event *e)
{
    if (e->kind == DEATH) {
        die(w, e->node);
        return;
    }
    if (w->port[e->node].dead)
        return;
    if (e->kind == LINK_FREE) {
        w->port[e->node].busy = 0;
    } else if (e->kind == PEER_READY && e->node != home_id(w)) {
        relay_sent(w->node[e->node].relay, e->peer, e->chunk, w->now);
        add_ready(w, e->node, e->peer);
    } else if (e->kind == ARRIVAL) {
        arrive(w, e);
    } else if (e->kind == CONTROL) {
        control(w, e);
    } else if (e->kind == TICK) {
        relay_tick(w->node[e->node].relay, w->now);
        if (relay_missing(w->node[e->node].relay) > 0)
            push(w,
                 (struct event){w->now + RELAY_TICK, e->node, 0, 0, TICK, 0});
    } else if (e->kind == FEED) {
        feed_tick(w->feed, w->now);
        push(w, (struct event){w->now + FEED_TICK, e->node, 0, 0, FEED, 0});
    }
    send_from(w, e->node);
}

/* --- begin and end -------------------------------------------------------- */

static void mark(struct world *w, uint32_t n, uint64_t *random, double middle)
{
    while (n > 0) {
        uint32_t v = (uint32_t)((pull_random(random) >> 32) % w->s->plan.nodes);

        if (w->port[v].slow || w->port[v].dead > 1)
            continue;
        if (middle > 0) {
            w->port[v].slow = 2; /* not chosen again */
            push(w, (struct event){middle, v, 0, 0, DEATH, 0});
        } else {
            w->port[v].slow = 1;
            w->port[v].rate /= SLOWDOWN;
        }
        n--;
    }
}

static void set_up(struct world *w)
{
    const struct simulation *s = w->s;
    uint32_t n = s->plan.nodes;
    uint32_t slow = (uint32_t)(s->slow * n + 0.5);
    uint64_t random = s->random;
    double limit = (double)s->plan.bytes / s->rate;

    if (slow == 0 && s->slow > 0)
        slow = 1;
    for (uint32_t v = 0; v <= n; v++)
        w->port[v].rate = s->rate;
    mark(w, slow < n ? slow : n, &random, 0);
    mark(w, s->dead < n - slow ? s->dead : n - slow, &random, limit / 2);
    for (uint32_t v = 0; v < n; v++) {
        struct relay_setup setup = {.plan = &s->plan,
                                    .self = v,
                                    .way = s->way,
                                    .strict = s->strict,
                                    .slot = (double)s->plan.chunk / s->rate,
                                    .random = pull_random(&random) | 1,
                                    .wake = on_wake,
                                    .arg = &w->node[v]};

        w->node[v] = (struct node){w, relay_create(&setup), v};
        w->bad |= !w->node[v].relay;
        feed_connected(w->feed, v, 0);
        /* Not all at once: nobody's clock is another's. */
        push(w, (struct event){RELAY_TICK * v / n, v, 0, 0, TICK, 0});
    }
    w->left = s->plan.chunks > 0 ? n : 0;
    push(w, (struct event){0, n, 0, 0, FEED, 0});
}

static void results(struct world *w)
{
    struct simulated *out = w->out;

    for (uint32_t v = 0; v < w->s->plan.nodes; v++) {
        const struct port *p = &w->port[v];

        if (p->dead)
            continue;
        if (p->done <= 0) {
            out->unfinished += w->s->plan.chunks > 0;
            continue;
        }
        if (p->done > out->seconds)
            out->seconds = p->done;
        if (p->slow != 1 && p->done > out->fast_seconds)
            out->fast_seconds = p->done;
    }
}

static void tear_down(struct world *w)
{
    for (uint32_t v = 0; w->node && v < w->s->plan.nodes; v++)
        relay_destroy(w->node[v].relay);
    for (uint32_t v = 0; w->port && v <= w->s->plan.nodes; v++)
        free(w->port[v].ready);
    feed_destroy(w->feed);
    free(w->node);
    free(w->port);
    free(w->offset);
    free(w->heap.e);
}

int simulate(const struct simulation *s, struct simulated *out)
{
    struct world w = {.s = s, .out = out};
    double patience =
        PATIENCE * ((double)s->plan.bytes / s->rate + s->latency) + 10;

    memset(out, 0, sizeof *out);
    w.node = calloc(s->plan.nodes, sizeof *w.node);
    w.port = calloc(s->plan.nodes + 1u, sizeof *w.port);
    w.offset = calloc(s->plan.chunks + 1u, sizeof *w.offset);
    w.feed = feed_create(&s->plan, s->random, 0);
    w.bad = !w.node || !w.port || !w.offset || !w.feed;
    if (!w.bad) {
        plan_offsets(&s->plan, w.offset);
        set_up(&w);
    }
    while (!w.bad && w.left > 0 && w.heap.n > 0 && w.now < patience) {
        struct event e = pop(&w.heap);

        w.now = e.at;
        out->events++;
        handle(&w, &e);
    }
    if (!w.bad)
        results(&w);
    tear_down(&w);
    return w.bad ? -1 : 0;
}
