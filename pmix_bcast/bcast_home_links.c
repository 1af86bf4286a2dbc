/* SPDX-License-Identifier: BSD-2-Clause */
/* Home of a broadcast: chunks, and the connections that they go by. */
#include "pmix_bcast/array.h"
#include "pmix_bcast/bcast_home_state.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <string.h>

/* Bytes that need not be sent, before others have their turn. */
#define TAGGED_AT_ONCE (1u << 20)

/* --- chunks --------------------------------------------------------------- */

/* Once all tags are known the nodes can tell whether they have all. */
static void send_sum(struct bcast_home *h)
{
    uint64_t sum = chunk_tag_sum(h->source.tag, h->plan.chunks);
    struct writer w = {0};

    if (bcast_source_check(&h->source, &h->err) < 0) {
        bcast_home_end(h);
        return;
    }
    bcast_write_sum(&w, h->s.id, sum);
    h->s.send(h->s.arg, BCAST_SUM, &w);
}

/* Before a chunk is sent it needs its tag. */
static int make_tag(struct bcast_home *h, uint32_t chunk)
{
    uint32_t untagged = h->source.untagged;

    if (h->over)
        return -1;
    if (!h->source.has_tag[chunk])
        h->got_on = clock_s();
    if (bcast_source_tag(&h->source, chunk, &h->err) < 0)
        bcast_home_end(h);
    else if (untagged > 0 && h->source.untagged == 0)
        send_sum(h);
    return h->over ? -1 : 0;
}

static int enqueue(struct receiver *r, const struct feed_give *g)
{
    struct feed_give *queue =
        array_grow(r->queue, &r->cap, r->n + 1, sizeof *queue, CHUNKS_MAX);

    if (!queue)
        return -1;
    r->queue = queue;
    r->queue[r->n++] = *g;
    r->queued += bcast_source_size(&r->home->source, g->chunk);
    rails_wake(r->rail);
    return 0;
}

static int is_connected(const struct receiver *r)
{
    return rails_open(r->rail) > 0;
}

/* As if all of its rails were as full as the emptiest: what is stuck in one that
 * is broken is not to keep the others waiting. */
static uint64_t in_kernel(const struct receiver *r)
{
    uint64_t least = 0;
    unsigned n = 0;

    for (unsigned i = 0; i < RAILS_MAX; i++) {
        uint64_t queued =
            r->rail[i].link ? link_queued(r->rail[i].link) : UINT64_MAX;

        if (r->rail[i].link && (n++ == 0 || queued < least))
            least = queued;
    }
    return n * least;
}

/* What waits, here and in the kernel, for one of them. */
static void measure_queue(struct bcast_home *h, uint32_t v)
{
    const struct receiver *r = &h->node[v];

    if (is_connected(r))
        feed_queued(h->feed, v, r->queued + in_kernel(r));
}

void bcast_home_give(struct bcast_home *h)
{
    struct feed_give g;
    uint64_t tagged = 0;

    for (uint32_t v = 0; v < plan_used(&h->plan); v++)
        measure_queue(h, v);
    while (!h->over && feed_waiting(h->feed) < feed_budget(h->feed)
           && tagged < TAGGED_AT_ONCE && feed_next(h->feed, &g, clock_s())) {
        if (make_tag(h, g.chunk) < 0)
            return;
        if (g.is_there) {
            tagged += bcast_source_size(&h->source, g.chunk);
            continue;
        }
        if (enqueue(&h->node[g.node], &g) < 0) {
            (void)es_no_memory(&h->err);
            bcast_home_end(h);
        }
        h->given++;
        measure_queue(h, g.node);
    }
}

int bcast_home_is_told(const struct bcast_home *h)
{
    return h->s.wish.flags & ORDER_TREE && h->s.wish.tree->want.bits
           && h->plan.shape == PLAN_STRIPES;
}

/* --- connections ---------------------------------------------------------- */

/* The end of it is a run of none. */
static int heard_have(struct bcast_home *h,
                      uint32_t v,
                      const struct link_head *m)
{
    if (m->bytes > h->plan.chunks - m->chunk)
        return -1;
    if (h->node[v].ended)
        return 0;
    feed_has(h->feed, v, m->chunk, (uint32_t)m->bytes);
    if (m->bytes > 0)
        return 0;
    feed_connected(h->feed, v, h->node[v].moved);
    if (!h->over)
        bcast_home_give(h);
    return 0;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *m,
                    const uint8_t *bytes)
{
    const struct rail *rail = arg;
    struct receiver *r = rail->peer;
    struct bcast_home *h = r->home;
    struct feed_give g = {m->chunk, r->rank, 0, 0};

    (void)l;
    (void)bytes;
    if (m->broadcast != h->s.id || m->chunk >= h->plan.chunks)
        return -1;
    r->moved = clock_s();
    if (m->type == LINK_HAVE)
        return heard_have(h, r->rank, m);
    if (m->type == LINK_RELAYED)
        feed_relayed(h->feed, r->rank, m->chunk, r->moved);
    else if (m->type == LINK_PULL) /* nobody else has it */
        return make_tag(h, m->chunk) < 0 ? 0 : enqueue(r, &g);
    else
        return m->type == LINK_CANCEL ? 0 : -1;
    if (!h->over)
        bcast_home_give(h);
    return 0;
}

static int on_next(
    struct link *l, void *arg, struct link_head *m, int *fd, off_t *at)
{
    const struct rail *rail = arg;
    struct receiver *r = rail->peer;
    struct bcast_home *h = r->home;
    struct feed_give g;

    (void)l;
    if (r->n == 0 || h->over
        || !rails_turn(&h->rails, r->rail, rail, h->plan.chunk))
        return 0;
    g = r->queue[0];
    memmove(r->queue, r->queue + 1, --r->n * sizeof *r->queue);
    r->queued -= bcast_source_size(&h->source, g.chunk);
    *m = (struct link_head){
        .type = LINK_CHUNK,
        .broadcast = h->s.id,
        .chunk = g.chunk,
        .flags = g.as_root ? LINK_AS_ROOT : 0,
        .size = (uint32_t)bcast_source_size(&h->source, g.chunk)};
    memcpy(m->digest, h->source.tag[g.chunk].bytes, TAG_BYTES);
    *fd = h->source.fd;
    *at = (off_t)h->source.offset[g.chunk];
    return 1;
}

static int on_read(struct link *l,
                   void *arg,
                   const struct link_head *m,
                   uint8_t *bytes)
{
    const struct rail *rail = arg;
    const struct receiver *r = rail->peer;
    struct bcast_home *h = r->home;

    (void)l;
    if (bcast_source_read(&h->source, m->chunk, bytes, &h->err) == 0)
        return 0;
    bcast_home_end(h);
    return EIO;
}

static void on_sent(struct link *l, void *arg, const struct link_head *m)
{
    const struct rail *rail = arg;
    struct receiver *r = rail->peer;

    (void)l;
    (void)m;
    r->moved = r->home->got_on = clock_s();
    if (!r->home->over)
        bcast_home_give(r->home);
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct rail *rail = arg;
    struct receiver *r = rail->peer;
    struct bcast_home *h = r->home;

    (void)why; /* its channel tells whether it is lost altogether */
    h->home_bytes += link_bytes_sent(l);
    rail_end(&h->rails, rail);
    if (is_connected(r)) {
        feed_again(h->feed, r->rank);
        rails_wake(r->rail);
    } else {
        r->n = 0;
        r->queued = 0;
        feed_lost(h->feed, r->rank);
    }
    if (!h->over && bcast_source_check(&h->source, &h->err) < 0)
        bcast_home_end(h);
}

/* Nobody sends chunks here: they need no place. */
static const struct link_events receiver_events = {
    .taken = on_taken,
    .next = on_next,
    .read = on_read,
    .sent = on_sent,
    .closed = on_closed,
};

/* One more call is a further rail. */
static struct rail *free_rail(const struct bcast_home *h, uint32_t rank)
{
    struct receiver *r = &h->node[rank];
    unsigned n = h->s.wish.flags & ORDER_RAILS ? RAILS_MAX : 1;

    for (unsigned i = 0; i < n && !r->ended; i++)
        if (!r->rail[i].link)
            return &r->rail[i];
    return NULL;
}

static int on_pending_taken(struct link *l,
                            void *arg,
                            const struct link_head *m,
                            const uint8_t *bytes)
{
    struct pending *p = arg;
    struct bcast_home *h = p->owner;
    uint32_t rank = link_caller(l);
    struct rail *rail;

    (void)bytes;
    if (m->type != LINK_HELLO || m->broadcast != h->s.id
        || rank >= h->plan.nodes)
        return -1;
    rail = free_rail(h, rank);
    if (!rail)
        return -1;
    rail_begin(&h->rails, rail, l);
    link_set_events(l, &receiver_events, rail);
    link_set_chunk(l, h->plan.chunk);
    link_set_packing(l, h->packing);
    link_set_fabric(l, h->fabric, 0);
    pending_leave(p);
    if (bcast_home_is_told(h)) /* first, and then gives */
        return 0;
    feed_connected(h->feed, rank, clock_s());
    if (!h->over)
        bcast_home_give(h);
    return 0;
}

static void on_pending_closed(struct link *l, void *arg, const char *why)
{
    (void)l;
    (void)why;
    pending_leave(arg);
}

static const struct link_events pending_events = {
    .taken = on_pending_taken,
    .closed = on_pending_closed,
};

void bcast_home_called(void *arg, struct listener *l, int fd)
{
    struct bcast_home *h = arg;

    /* Without memory the caller sees its call end, and that is all. */
    (void)pending_accept_link(&h->pending, h->s.base, fd, l, &pending_events);
}
