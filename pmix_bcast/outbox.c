/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be pushed is one log of chunks, in the order in which they came;
 * each peer has a lane with a cursor into it, and passes over what is not for
 * that peer.  So a chunk costs one entry, however many children there are.
 */
#include "pmix_bcast/outbox.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/pull.h"

#include <stdlib.h>

#define LOG_MAX    UINT32_MAX /* entries: NOTHING is none of them */
#define NOTHING    UINT32_MAX
#define KIND_SHIFT 28u /* CHUNKS_MAX is 2^24 */
#define RING       16u /* small rings of a lane; a power of two */

struct ring {
    uint32_t at[RING];
    uint8_t first, n;
};

struct lane {
    uint32_t peer;
    uint32_t cursor;                  /* into the log */
    uint32_t pushing[OUTBOX_AT_ONCE]; /* entries being sent, or NOTHING */
    struct ring answers;              /* chunks it has asked for */
    struct ring control;              /* chunk and relay_kind, packed */
    struct ring cancelled;            /* chunks that it has by now */
    uint8_t ready; /* woken, and outbox_next() has not said 0 since */
};

struct entry { /* of the log */
    uint32_t chunk, from;
    uint32_t to_send;  /* peers that are still to get it */
    uint32_t to_relay; /* copies until RELAYED; 0: said, or not for us */
    uint8_t as_root;
};

/* --- rings ---------------------------------------------------------------- */

static int ring_put(struct ring *q, uint32_t v)
{
    if (q->n == RING)
        return -1;
    q->at[(q->first + q->n++) % RING] = v;
    return 0;
}

static int ring_take(struct ring *q, uint32_t *v)
{
    if (q->n == 0)
        return 0;
    *v = q->at[q->first];
    q->first = (uint8_t)((q->first + 1u) % RING);
    q->n--;
    return 1;
}

/* Take v out, wherever it is. */
static int ring_remove(struct ring *q, uint32_t v)
{
    uint32_t x = 0;
    int found = 0;

    for (unsigned n = q->n; n > 0; n--) {
        (void)ring_take(q, &x);
        if (x == v && !found)
            found = 1;
        else
            (void)ring_put(q, x);
    }
    return found;
}

/* --- lanes ---------------------------------------------------------------- */

static struct lane *lane_find(struct outbox *o, uint32_t peer)
{
    for (size_t i = 0; i < o->n_lanes; i++)
        if (o->lane[i].peer == peer)
            return &o->lane[i];
    return NULL;
}

/* What is in the log is not for a peer that had no lane: it was not there. */
static void lane_init(const struct outbox *o, struct lane *l, uint32_t peer)
{
    *l = (struct lane){.peer = peer, .cursor = o->n_log};
    for (unsigned i = 0; i < OUTBOX_AT_ONCE; i++)
        l->pushing[i] = NOTHING;
}

/* Lanes move when one is added.  Home's is always there, so that it can be
 * told something by who holds another one. */
static struct lane *lane_of(struct outbox *o, uint32_t peer)
{
    struct lane *l = lane_find(o, peer);

    if (l)
        return l;
    /* One for each other node, and home's. */
    l = array_grow(o->lane, &o->lanes_room, o->n_lanes + 1, sizeof *l,
                   o->s.plan->nodes + (size_t)1);
    if (!l)
        return NULL;
    o->lane = l;
    l = &o->lane[o->n_lanes++];
    lane_init(o, l, peer);
    return l;
}

/* For the entry that was just added. */
static struct lane *lane_for_entry(struct outbox *o, uint32_t peer)
{
    size_t n = o->n_lanes;
    struct lane *l = lane_of(o, peer);

    if (l && o->n_lanes > n)
        l->cursor--;
    return l;
}

static void wake(struct outbox *o, struct lane *l)
{
    if (l->ready)
        return;
    l->ready = 1;
    o->s.wake(o->s.arg, l->peer);
}

void outbox_tell(struct outbox *o,
                 uint32_t peer,
                 enum relay_kind kind,
                 uint32_t chunk)
{
    struct lane *l = lane_of(o, peer);

    if (l && ring_put(&l->control, (uint32_t)kind << KIND_SHIFT | chunk) == 0)
        wake(o, l);
}

/* --- the log -------------------------------------------------------------- */

int outbox_peer_had(const struct outbox *o, uint32_t peer, uint32_t chunk)
{
    const uint8_t *bits = o->has ? o->has[peer] : NULL;

    return bits && bits[chunk / 8] >> chunk % 8 & 1;
}

/* Is the entry for this peer?  It has one parent in the chunk's tree. */
static int is_for(const struct outbox *o, const struct entry *e, uint32_t peer)
{
    const struct plan *p = o->s.plan;
    uint32_t parent, root;

    if (peer == e->from || peer == o->s.self || peer == PLAN_NOBODY
        || outbox_peer_had(o, peer, e->chunk))
        return 0;
    parent = plan_parent(p, peer, e->chunk);
    if (parent == o->s.self)
        return 1;
    if (!e->as_root)
        return 0;
    root = plan_give(p, e->chunk).node;
    return root != o->s.self && (peer == root || parent == root);
}

/* Wake those who get it; how many they are. */
static uint32_t wake_children(struct outbox *o,
                              const struct entry *e,
                              uint32_t at)
{
    const struct plan *p = o->s.plan;
    uint32_t n = plan_children(p, at, e->chunk), to = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t peer = plan_child(p, at, e->chunk, i);
        struct lane *l;

        if (!is_for(o, e, peer) || o->s.presence[peer] == GONE)
            continue;
        l = lane_for_entry(o, peer);
        if (!l)
            continue; /* it will pull */
        to++;
        wake(o, l);
    }
    return to;
}

static struct entry *log_add(struct outbox *o)
{
    struct entry *log = array_grow(o->log, &o->log_room, o->n_log + (size_t)1,
                                   sizeof *log, LOG_MAX);

    if (!log)
        return NULL;
    o->log = log;
    return &o->log[o->n_log++];
}

/* Unlike what peers are told none of these may be lost: home would wait. */
void outbox_report(struct outbox *o, uint32_t chunk)
{
    uint32_t *grown =
        array_grow(o->report, &o->report_room, o->n_report + (size_t)1,
                   sizeof *grown, LOG_MAX);

    if (!grown)
        return; /* home gives it again */
    o->report = grown;
    o->report[o->n_report++] = chunk;
    wake(o, lane_find(o, PLAN_NOBODY));
}

static int next_report(struct outbox *o, struct relay_item *item)
{
    if (o->reported < o->n_report) {
        *item = (struct relay_item){RELAY_RELAYED, o->report[o->reported++]};
        return 1;
    }
    o->n_report = o->reported = 0;
    return 0;
}

static void relayed(struct outbox *o, struct entry *e)
{
    e->to_relay = 0;
    outbox_report(o, e->chunk);
}

void outbox_push(struct outbox *o, uint32_t from, uint32_t chunk, int as_root)
{
    uint32_t root = plan_give(o->s.plan, chunk).node;
    struct entry *e;
    struct lane *l;

    if (!as_root && plan_children(o->s.plan, o->s.self, chunk) == 0) {
        if (from == PLAN_NOBODY)
            outbox_report(o, chunk);
        return;
    }
    e = log_add(o);
    if (!e)
        return; /* the others will pull */
    *e = (struct entry){
        .chunk = chunk, .from = from, .as_root = (uint8_t)as_root};
    e->to_send = wake_children(o, e, o->s.self);
    if (as_root && root != o->s.self) {
        e->to_send += wake_children(o, e, root);
        if (o->s.presence[root] != GONE && is_for(o, e, root)
            && (l = lane_for_entry(o, root)) != NULL) {
            e->to_send++;
            wake(o, l);
        }
    }
    o->unsent += e->to_send;
    if (from != PLAN_NOBODY)
        return;
    /* Half of the copies for the root; what was re-given goes the way of a
     * chunk that somebody waits for: one. */
    e->to_relay = as_root ? 1 : (e->to_send + 1) / 2;
    if (e->to_send == 0)
        relayed(o, e);
}

/* One copy less to send, sent or not needed. */
static void settle_copy(struct outbox *o, struct entry *e)
{
    e->to_send--;
    o->unsent--;
    if (e->to_relay > 0 && (--e->to_relay == 0 || e->to_send == 0))
        relayed(o, e);
}

static uint8_t *bits_of(struct outbox *o, uint32_t peer)
{
    if (!o->has)
        o->has = calloc(o->s.plan->nodes, sizeof *o->has);
    if (o->has && !o->has[peer])
        o->has[peer] = calloc(o->s.plan->chunks / 8u + 1, 1);
    return o->has ? o->has[peer] : NULL;
}

void outbox_peer_has(struct outbox *o,
                     uint32_t peer,
                     uint32_t first,
                     uint32_t n)
{
    const struct lane *l = lane_find(o, peer);
    uint8_t *bits = n > 0 ? bits_of(o, peer) : NULL;

    if (!bits)
        return;
    for (uint32_t i = l ? l->cursor : o->n_log; i < o->n_log; i++) {
        struct entry *e = &o->log[i];

        if (e->chunk >= first && e->chunk - first < n && is_for(o, e, peer))
            settle_copy(o, e);
    }
    for (uint32_t j = first; j < first + n; j++)
        bits[j / 8] |= (uint8_t)(1u << j % 8);
}

/* --- answers -------------------------------------------------------------- */

void outbox_answer(struct outbox *o, uint32_t peer, uint32_t chunk)
{
    struct lane *l = lane_of(o, peer);

    if (!l)
        return; /* its pull expires */
    (void)ring_remove(&l->cancelled, chunk);
    if (ring_put(&l->answers, chunk) == 0)
        wake(o, l);
}

void outbox_cancel(struct outbox *o, uint32_t peer, uint32_t chunk)
{
    struct lane *l = lane_of(o, peer);
    uint32_t oldest;

    if (!l || ring_remove(&l->answers, chunk))
        return;
    if (l->cancelled.n == RING)
        (void)ring_take(&l->cancelled, &oldest);
    (void)ring_put(&l->cancelled, chunk);
}

void outbox_wake_answers(struct outbox *o)
{
    for (size_t i = 0; i < o->n_lanes; i++)
        if (o->lane[i].answers.n > 0)
            wake(o, &o->lane[i]);
}

/* --- what to send --------------------------------------------------------- */

static void begin_push(struct lane *l, uint32_t entry)
{
    unsigned i = 0;

    while (i < OUTBOX_AT_ONCE - 1 && l->pushing[i] != NOTHING)
        i++;
    l->pushing[i] = entry;
}

/* Of the entries that are being sent that of this chunk; NULL if it is none. */
static uint32_t *find_push(const struct outbox *o,
                           struct lane *l,
                           uint32_t chunk)
{
    for (unsigned i = 0; i < OUTBOX_AT_ONCE; i++)
        if (l->pushing[i] != NOTHING && o->log[l->pushing[i]].chunk == chunk)
            return &l->pushing[i];
    return NULL;
}

static int next_push(struct outbox *o, struct lane *l, struct relay_item *item)
{
    while (l->cursor < o->n_log) {
        struct entry *e = &o->log[l->cursor++];

        if (!is_for(o, e, l->peer))
            continue;
        if (ring_remove(&l->cancelled, e->chunk)) {
            settle_copy(o, e);
            continue;
        }
        *item = (struct relay_item){RELAY_CHUNK, e->chunk};
        begin_push(l, l->cursor - 1);
        return 1;
    }
    return 0;
}

int outbox_next(struct outbox *o,
                uint32_t peer,
                int may_answer,
                struct relay_item *item)
{
    struct lane *l = lane_find(o, peer);
    uint32_t v;

    if (!l)
        return 0;
    if (ring_take(&l->control, &v)) {
        item->kind = (enum relay_kind)(v >> KIND_SHIFT);
        item->chunk = v & ((1u << KIND_SHIFT) - 1);
        return 1;
    }
    if (peer == PLAN_NOBODY && next_report(o, item))
        return 1;
    if (next_push(o, l, item))
        return 1;
    if (may_answer && ring_take(&l->answers, &v)) {
        *item = (struct relay_item){RELAY_CHUNK, v};
        return 1;
    }
    l->ready = 0;
    return 0;
}

int outbox_sent(struct outbox *o, uint32_t peer, uint32_t chunk)
{
    struct lane *l = lane_find(o, peer);
    uint32_t *push = l ? find_push(o, l, chunk) : NULL;

    if (!push)
        return 0;
    settle_copy(o, &o->log[*push]);
    *push = NOTHING;
    return 1;
}

int outbox_is_idle(struct outbox *o, uint32_t peer)
{
    const struct lane *l = lane_find(o, peer);

    return !l || !l->ready;
}

/* --- losses --------------------------------------------------------------- */

/* Its connection was closed: what came before is not for it. */
static void outbox_forget(struct outbox *o, uint32_t peer)
{
    struct lane *l = lane_find(o, peer);

    if (peer == PLAN_NOBODY)
        o->n_report = o->reported = 0;
    if (l && peer == PLAN_NOBODY)
        lane_init(o, l, peer);
    else if (l)
        *l = o->lane[--o->n_lanes];
}

void outbox_lost(struct outbox *o, uint32_t peer)
{
    struct lane *l = lane_find(o, peer);

    if (!l)
        return;
    for (unsigned i = 0; i < OUTBOX_AT_ONCE; i++)
        if (l->pushing[i] != NOTHING)
            settle_copy(o, &o->log[l->pushing[i]]);
    for (; l->cursor < o->n_log; l->cursor++)
        if (is_for(o, &o->log[l->cursor], peer))
            settle_copy(o, &o->log[l->cursor]);
    outbox_forget(o, peer);
}

/* --- begin and end -------------------------------------------------------- */

int outbox_init(struct outbox *o, const struct outbox_setup *setup)
{
    *o = (struct outbox){.s = *setup};
    return lane_of(o, PLAN_NOBODY) ? 0 : -1;
}

void outbox_clear(struct outbox *o)
{
    free(o->lane);
    free(o->log);
    free(o->report);
    for (uint32_t v = 0; o->has && v < o->s.plan->nodes; v++)
        free(o->has[v]);
    free(o->has);
}
