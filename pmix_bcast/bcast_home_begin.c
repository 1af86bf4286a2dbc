/* SPDX-License-Identifier: BSD-2-Clause */
/* Home of a broadcast: its begin, what nodes report, time, the result. */
#include "pmix_bcast/bcast_home_state.h"
#include "pmix_bcast/bcast_origin.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define TICK_MS   1
#define FEED_MS   10 /* how often feed_tick() is called */
#define TIMEOUT_S 10.0
#define QUIET_S   3.0 /* a node tells every second what it has */
/* Small data goes with the order, if it is not more than this for all. */
#define INLINE_ALL (64u << 10)

/* --- what nodes report ---------------------------------------------------- */

static void node_is_done(struct bcast_home *h, uint32_t v, struct bcast_done *d)
{
    h->pulls += d->pulls;
    h->refused += d->refused;
    h->duplicates += d->duplicates;
    h->fabric_bytes += d->fabric;
    if (d->threads > h->threads)
        h->threads = d->threads;
    snprintf(h->result[v].note, sizeof h->result[v].note, "%s", d->note);
    if (d->error == 0 && d->text[0] == '\0') {
        if (h->s.wish.flags & ORDER_INDEX && h->s.wish.tree->want.bits
            && tree_want_unite(&h->s.wish.tree->want, d->want, d->want_len) < 0)
            bcast_home_give_up(h, v,
                               "what it says it lacks is not of this tree");
        else
            bcast_home_node_ends(h, v, "");
    } else {
        if (d->text[0] == '\0')
            snprintf(d->text, sizeof d->text, "%s: %s", h->s.wish.destination,
                     strerror((int)d->error));
        if (!h->node[v].ended)
            h->result[v].error = (int)d->error;
        bcast_home_give_up(h, v, d->text);
    }
    if (h->left == 0)
        bcast_home_end(h);
}

/* What it had it may have passed on, and cannot get on before home is through.  As
 * long as home gets on, or waits for one that is given up, so is the node. */
static double waits_until(const struct bcast_home *h, uint32_t v, double t)
{
    double last = h->got_on + h->s.wish.timeout_s;

    if (!h->feed || !bcast_home_is_told(h) || h->source.untagged == 0
        || h->node[v].n > 0 || feed_given(h->feed, v) > 0)
        return 0;
    return last < t ? last : t;
}

static void node_holds(struct bcast_home *h, uint32_t v, uint32_t held)
{
    struct receiver *r = &h->node[v];
    double t = clock_s(), since = t - (r->told > 0 ? r->told : h->start);

    r->rate = held > r->held && since > 0 ? (held - r->held) / since : 0;
    if (held > r->held)
        r->moved = t;
    else if (waits_until(h, v, t) > r->moved)
        r->moved = waits_until(h, v, t);
    r->held = held;
    r->told = t;
}

int bcast_home_receive(struct bcast_home *h,
                       uint32_t node,
                       enum bcast_kind kind,
                       const uint8_t *body,
                       size_t len)
{
    struct bcast_done done;
    uint32_t id, held;

    if (h->over || node >= h->plan.nodes)
        return 0;
    if (kind == BCAST_DONE && bcast_read_done(&done, body, len) == 0
        && done.id == h->s.id) {
        node_is_done(h, node, &done);
        return 0;
    }
    if (kind == BCAST_HELD && bcast_read_number(&id, &held, body, len) == 0
        && id == h->s.id) {
        node_holds(h, node, held);
        return 0;
    }
    return -1;
}

void bcast_home_lost(struct bcast_home *h,
                     uint32_t node,
                     const char *why,
                     int error)
{
    if (h->over || node >= h->plan.nodes)
        return;
    if (!h->node[node].ended)
        h->result[node].error = error;
    bcast_home_give_up(h, node, why);
}

void bcast_home_move(struct bcast_home *h, uint32_t node, double seconds)
{
    double t = clock_s(), *moved;

    if (node >= h->plan.nodes)
        return;
    moved = &h->node[node].moved;
    *moved = t - *moved < seconds ? t : *moved + seconds;
}

/* --- time ----------------------------------------------------------------- */

static void look_for_stalled(struct bcast_home *h, double t)
{
    char why[64];

    snprintf(why, sizeof why, "no progress for %g s", h->s.wish.timeout_s);
    for (uint32_t v = 0; v < h->plan.nodes && !h->over; v++)
        if (!h->node[v].ended && t - h->node[v].moved > h->s.wish.timeout_s
            && (!h->s.is_late || h->s.is_late(h->s.arg, v)))
            bcast_home_give_up(h, v, why);
}

/* By those that have ended, too. */
static uint64_t bytes_sent(const struct bcast_home *h)
{
    uint64_t bytes = h->home_bytes;
    const struct rail *r;

    for (r = LIST_FIRST(&h->rails.first); r; r = LIST_NEXT(r, next))
        bytes += link_bytes_sent(r->link);
    return bytes;
}

/* All links together: home's own is what they share. */
static void measure_wire(struct bcast_home *h, double t)
{
    uint64_t bytes = bytes_sent(h), queued = 0;
    const struct rail *r;

    for (r = LIST_FIRST(&h->rails.first); r; r = LIST_NEXT(r, next))
        queued += link_queued(r->link);
    packing_went(h->packing, bytes > queued ? bytes - queued : 0, queued > 0,
                 t);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct bcast_home *h = arg;
    double t = clock_s();

    (void)fd;
    (void)what;
    if (++h->ticks % FEED_MS == 0) {
        if (h->feed)
            feed_tick(h->feed, t);
        look_for_stalled(h, t);
    }
    if (h->packing && h->s.wish.pack == PACK_AUTO)
        measure_wire(h, t);
    rails_tick(&h->rails);
    if (h->feed && !h->over)
        bcast_home_give(h);
}

/* --- begin and end -------------------------------------------------------- */

/* So little that a tree would only cost time. */
static int is_small(const struct bcast_home *h)
{
    return h->plan.bytes <= h->s.wish.small && h->plan.bytes <= h->plan.chunk
           && h->plan.bytes * h->plan.nodes <= INLINE_ALL;
}

/* Nothing of it is sent. */
static int begins_file(const struct bcast_home *h)
{
    return (h->s.wish.flags & ORDER_BEGIN) != 0;
}

static uint32_t fabric_flags(enum transport t)
{
    return t == TRANSPORT_TCP    ? 0
           : t == TRANSPORT_AUTO ? ORDER_FABRIC
                                 : ORDER_FABRIC | ORDER_ANY_FABRIC;
}

/* May a source be where the copy is to be?  Not if something in it is lost. */
static uint32_t origin_flags(const struct bcast_wish *w)
{
    const struct tree_found *f = w->tree ? &w->tree->found : NULL;

    if (!f || w->flags & ORDER_SINGLE)
        return ORIGIN_MAY_BE; /* a file's copy has all of it */
    if (f->n > 1 || f->top[0].entry > 0)
        return 0; /* the copy holds it */
    if (!(w->flags & ORDER_UPDATE))
        return ORIGIN_UPDATE;
    return w->flags & ORDER_DELETE && f->unwanted + f->left_out > 0
               ? 0
               : ORIGIN_MAY_BE;
}

/* The content goes where it was begun. */
static int find_origin(const struct bcast_home *h,
                       struct writer *origin,
                       struct es_error *err)
{
    const struct bcast_wish *w = &h->s.wish;
    char *path = (char *)w->source; /* is only read */
    const struct tree_top file = {.path = path};
    int why;

    if (!(w->flags & (ORDER_FORCE | ORDER_UPDATE)) || w->begun || w->is_whole)
        return 0;
    why = bcast_origin_write(origin, w->tree ? w->tree->found.top : &file,
                             w->tree ? w->tree->found.n : 1, origin_flags(w));
    if (why == ENOMEM)
        return es_no_memory(err);
    if (why == E2BIG)
        return es_fail(err, ES_USAGE, "give the folders that they are in",
                       "there are more sources than can be told from DST");
    return why ? es_fail(err, ES_WORK, "give a source that stays where it is",
                         "%s: %s", w->tree ? w->tree->found.top[0].path : path,
                         strerror(why))
               : 0;
}

/* content: all of it, or NULL. */
static void send_order(struct bcast_home *h,
                       const uint8_t *content,
                       const struct writer *origin)
{
    const struct stat *source = &h->source.stat;
    struct bcast_order o = {
        .id = h->s.id,
        .flags = h->s.wish.flags | (h->packing ? ORDER_PACKED : 0u)
                 | fabric_flags(h->s.wish.transport),
        .mode = source->st_mode & 0777,
        .mtime_ns = (int64_t)((uint64_t)source->st_mtim.tv_sec * 1000000000u
                              + (uint64_t)source->st_mtim.tv_nsec),
        .way = h->s.wish.way,
        .plan = h->plan,
        .port = h->listener ? listener_port(h->listener) : 0,
        .content = content,
        .cache_bytes = h->s.wish.cache_bytes,
        .origin = origin->buf,
        .origin_len = origin->len,
        .begun = h->s.wish.begun,
    };
    struct writer w = {0};

    snprintf(o.destination, sizeof o.destination, "%s", h->s.wish.destination);
    o.networks = h->networks;
    if (h->s.wish.cache)
        snprintf(o.cache, sizeof o.cache, "%s", h->s.wish.cache);
    if (o.flags & ORDER_TREE && h->s.wish.tree->want.bits) {
        o.want = h->s.wish.tree->want.bits;
        o.want_len = tree_want_bytes(h->s.wish.tree->want.n);
    }
    bcast_write_order(&w, &o);
    h->s.send(h->s.arg, BCAST_ORDER, &w);
}

static void on_fabric(void *arg)
{
    struct bcast_home *h = arg;

    for (uint32_t v = 0; v < h->plan.nodes; v++)
        for (unsigned i = 0; i < RAILS_MAX; i++)
            if (h->node[v].rail[i].link)
                link_set_fabric(h->node[v].rail[i].link, h->fabric, 0);
}

/* Until it is there, or without it, all goes by TCP. */
static void open_fabric(struct bcast_home *h)
{
    const char *near = h->s.loopback == LOOPBACK_NO
                           ? NULL
                           : address_loopback_text(h->s.loopback);

    if (h->s.wish.transport != TRANSPORT_TCP)
        h->fabric =
            fabric_open(h->s.base, h->s.wish.transport, near, on_fabric, h);
}

/* Where nodes call; without networks for data it goes by Slurm's. */
static int open_door(struct bcast_home *h, struct es_error *err)
{
    struct listen_at at = {0};
    const struct listener_setup door = {.base = h->s.base,
                                        .secret = h->s.secret,
                                        .purpose = PURPOSE_BROADCAST,
                                        .self = FRONT_END,
                                        .ports = h->s.ports,
                                        .loopback = h->s.loopback,
                                        .at = &at,
                                        .called = bcast_home_called,
                                        .arg = h};

    (void)networks_find(&h->networks, h->s.wish.interfaces,
                        h->s.loopback != LOOPBACK_NO, "/sys");
    if (h->s.at && h->s.at->n > 0) {
        at = *h->s.at;
        listen_at_networks(&at, &h->networks);
    }
    return listener_open(&h->listener, &door, err);
}

static int make_feed(struct bcast_home *h, struct es_error *err)
{
    h->feed = feed_create(&h->plan, (uint64_t)randombytes_random() << 32 | 1,
                          h->start);
    if (!h->feed)
        return es_no_memory(err);
    if (bcast_source_cut(&h->source, &h->plan, h->s.secret, h->s.id, err) < 0)
        return -1;
    if (h->s.wish.pack != PACK_NONE) {
        h->packing =
            packing_create(h->s.wish.pack, h->plan.chunks, h->plan.chunk);
        if (!h->packing)
            return es_no_memory(err);
    }
    open_fabric(h);
    return open_door(h, err);
}

static int make_parts(struct bcast_home *h, struct es_error *err)
{
    struct timeval tv = {0, TICK_MS * 1000};

    h->left = h->plan.nodes;
    h->node = calloc(h->plan.nodes, sizeof *h->node);
    h->result = calloc(h->plan.nodes, sizeof *h->result);
    h->tick = event_new(h->s.base, -1, EV_PERSIST, on_tick, h);
    if (!h->node || !h->result || !h->tick || event_add(h->tick, &tv) < 0)
        return es_no_memory(err);
    for (uint32_t v = 0; v < h->plan.nodes; v++) {
        h->node[v].home = h;
        h->node[v].rank = v;
        for (unsigned i = 0; i < RAILS_MAX; i++)
            h->node[v].rail[i].peer = &h->node[v];
        h->node[v].moved = h->start;
        h->result[v].seconds = -1;
    }
    return 0;
}

static int start(struct bcast_home *h, struct es_error *err)
{
    struct plan_wish wish = {
        .nodes = h->s.nodes,
        .branches = h->s.wish.branches,
        .chunk = h->s.wish.chunk,
        .shape = h->s.wish.flags & ORDER_STRICT ? PLAN_BRANCHES : PLAN_STRIPES};
    const uint8_t *content = NULL;
    struct writer origin = {0};
    int rc = 0;

    if (h->s.wish.transport == TRANSPORT_OFI && !fabric_is_built())
        return es_fail(err, ES_USAGE, "give \"tcp\" or \"auto\"",
                       "transport \"ofi\": this evenstep was built without "
                       "libfabric");
    if (h->s.wish.tree)
        bcast_source_of_tree(&h->source, h->s.wish.tree,
                             (h->s.wish.flags & ORDER_INDEX) != 0);
    else if (bcast_source_open(&h->source, h->s.wish.source, err) < 0)
        return -1;
    wish.bytes = h->source.bytes;
    if (plan_make(&h->plan, &wish, err) < 0 || make_parts(h, err) < 0)
        return -1;
    if (is_small(h) && !begins_file(h)) {
        content = bcast_source_read_all(&h->source, &h->plan, err);
        rc = content ? 0 : -1;
    } else if (!begins_file(h)) {
        rc = make_feed(h, err);
    }
    if (rc < 0)
        return -1;
    rc = find_origin(h, &origin, err);
    if (rc == 0)
        send_order(h, content, &origin);
    writer_clear(&origin);
    return rc;
}

int bcast_home_start(struct bcast_home **out,
                     const struct bcast_home_setup *setup,
                     struct es_error *err)
{
    struct bcast_home *h = calloc(1, sizeof *h);

    if (!h)
        return es_no_memory(err);
    h->s = *setup;
    h->source = BCAST_SOURCE_CLOSED;
    if (!(h->s.wish.timeout_s > 0))
        h->s.wish.timeout_s = TIMEOUT_S;
    pending_init(&h->pending, h);
    rails_init(&h->rails, &h->networks);
    h->start = h->got_on = clock_s();
    if (start(h, err) < 0) {
        bcast_home_destroy(h);
        return -1;
    }
    *out = h;
    return 0;
}

struct bcast_standing bcast_home_standing(const struct bcast_home *h,
                                          uint32_t node)
{
    const struct receiver *r = &h->node[node];
    uint64_t held = (uint64_t)r->held * h->plan.chunk;
    struct bcast_standing s = {.ended = r->ended};

    if (clock_s() - r->told < QUIET_S)
        s.rate = r->rate * h->plan.chunk;
    s.failed = r->ended && h->result[node].seconds < 0;
    if (begins_file(h))
        s.ended = s.failed; /* what it has begun comes later */
    s.bytes = held < h->plan.bytes ? held : h->plan.bytes;
    if (s.ended) {
        s.rate = 0;
        if (!s.failed)
            s.bytes = h->plan.bytes;
    }
    return s;
}

struct bcast_result bcast_home_result(const struct bcast_home *h)
{
    struct bcast_result r = {.plan = h->plan,
                             .seconds = h->seconds,
                             .home_bytes = bytes_sent(h),
                             .pulls = h->pulls,
                             .refused = h->refused,
                             .duplicates = h->duplicates,
                             .threads = h->threads,
                             .failed = h->failed,
                             .fabric = bcast_home_fabric_bytes(h),
                             .note = h->note,
                             .node = h->result,
                             .err = &h->err};

    r.left = h->packing ? packing_left(h->packing) : 1;
    if (!h->listener && !begins_file(h))
        r.home_bytes = h->plan.bytes * h->plan.nodes;
    return r;
}

void bcast_home_destroy(struct bcast_home *h)
{
    if (!h)
        return;
    pending_clear(&h->pending);
    for (uint32_t v = 0; h->node && v < h->plan.nodes; v++) {
        for (unsigned i = 0; i < RAILS_MAX; i++)
            link_destroy(h->node[v].rail[i].link);
        free(h->node[v].queue);
    }
    fabric_close(h->fabric);
    packing_destroy(h->packing);
    listener_close(h->listener);
    feed_destroy(h->feed);
    if (h->tick)
        event_free(h->tick);
    bcast_source_close(&h->source);
    free(h->node);
    free(h->result);
    free(h);
}
