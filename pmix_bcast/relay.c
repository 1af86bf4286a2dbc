/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be pushed is one log of chunks, in the order in which they came;
 * each peer has a lane with a cursor into it, and passes over what is not for
 * that peer.  So a chunk costs one entry, however many children there are.
 */
#include "pmix_bcast/relay.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>

#define PULLS_MAX    8 /* in flight */
#define PULLS_OTHERS 2 /* of other branches: one on its way, one asked */
#define LOG_MAX      UINT32_MAX /* entries: NOTHING is none of them */
#define RING         16u        /* small rings of a lane; a power of two */
#define RATE_WINDOW  0.02       /* s over which a link is idle or not */
#define WINDOW_SLOTS 16         /* and at least so many chunks' time */
#define IDLE_SHARE   0.5        /* of its average rate */
/* A tick that comes so late: the CPU is the limit, not links.  More than the
 * 4 to 8 ms that a kernel without fine timers makes of RELAY_TICK. */
#define STARVED_S 0.02
#define FORGIVE_S 0.5 /* so often at most */
/* Of the turns in which each parent brings a chunk: a parent that misses so
 * many is not waited for. */
#define ROUNDS_MISSED 6u
/* But for so long every process waits for its turn on a busy CPU. */
#define NEGLECT_S 0.1
/* No chunk has come by its tree for so long: whoever was to push the first ones
 * is gone or cannot reach us, or home has nothing to give yet. */
#define FIRST_S 2.0
/* A pull that is not answered: some time beyond what is late. */
#define PULL_GRACE 0.02
/* So many refusals in a row, and home is asked: perhaps nobody has it. */
#define REFUSALS_MAX 16u
/* That all of so many are gone is enough to say that all are. */
#define HOLDER_DRAWS 64

struct ring {
    uint32_t at[RING];
    uint8_t first, n;
};

struct lane {
    uint32_t peer;
    uint32_t cursor;       /* into the log */
    uint32_t pushing;      /* entry that is being sent, or NOTHING */
    struct ring answers;   /* chunks it has asked for */
    struct ring control;   /* chunk and relay_kind, packed */
    struct ring cancelled; /* chunks that it has by now */
    uint8_t ready;         /* woken, and relay_next() has not said 0 since */
};

struct entry { /* of the log */
    uint32_t chunk, from;
    uint32_t to_send;  /* peers that are still to get it */
    uint32_t to_relay; /* copies until RELAYED; 0: said, or not for us */
    uint8_t as_root;
};

struct flight { /* a pull that is on its way */
    struct pull pull;
    double deadline;
};

struct heard { /* when a node last pushed */
    double at;
    uint32_t got; /* chunks that had come to us then */
};

struct relay {
    struct relay_setup s;
    struct estimator estimator;
    uint8_t *hold;     /* enum hold, of each chunk */
    uint8_t *presence; /* of each node, see pull.h */
    uint32_t n_gone;
    uint8_t *replaced;       /* of each chunk: we took its root's place */
    struct heard *heard;     /* of each node */
    uint32_t got;            /* chunks that came, new or not */
    uint32_t missing, low;   /* low: all below are held */
    uint32_t pushed_missing; /* of those, the ones that will be pushed */
    struct lane *lane;
    size_t n_lanes, lanes_cap;
    struct entry *log;
    uint32_t n_log;
    size_t log_cap;
    uint32_t unsent;  /* copies in the log that are still to be sent */
    uint32_t *report; /* chunks that home is to be told are relayed */
    uint32_t n_report, reported;
    size_t report_cap;
    struct flight flight[PULLS_MAX];
    unsigned n_flights;
    double bytes, window_bytes, window_start; /* of what comes in */
    double came;                              /* when the last chunk did */
    double ticked, forgiven;
    int idle;
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

#define NOTHING    UINT32_MAX
#define KIND_SHIFT 28u /* CHUNKS_MAX is 2^24 */

/* --- lanes ---------------------------------------------------------------- */

static struct lane *lane_find(struct relay *r, uint32_t peer)
{
    for (size_t i = 0; i < r->n_lanes; i++)
        if (r->lane[i].peer == peer)
            return &r->lane[i];
    return NULL;
}

/* What is in the log is not for a peer that had no lane: it was not there. */
static void lane_init(const struct relay *r, struct lane *l, uint32_t peer)
{
    *l = (struct lane){.peer = peer, .cursor = r->n_log, .pushing = NOTHING};
}

/* Lanes move when one is added.  Home's is always there, so that it can be
 * told something by who holds another one. */
static struct lane *lane_of(struct relay *r, uint32_t peer)
{
    struct lane *l = lane_find(r, peer);

    if (l)
        return l;
    /* One for each other node, and home's. */
    l = array_grow(r->lane, &r->lanes_cap, r->n_lanes + 1, sizeof *l,
                   r->s.plan->nodes + (size_t)1);
    if (!l)
        return NULL;
    r->lane = l;
    l = &r->lane[r->n_lanes++];
    lane_init(r, l, peer);
    return l;
}

/* For the entry that was just added. */
static struct lane *lane_for_entry(struct relay *r, uint32_t peer)
{
    size_t n = r->n_lanes;
    struct lane *l = lane_of(r, peer);

    if (l && r->n_lanes > n)
        l->cursor--;
    return l;
}

static void wake(struct relay *r, struct lane *l)
{
    if (l->ready)
        return;
    l->ready = 1;
    r->s.wake(r->s.arg, l->peer);
}

/* Without memory, or room for more than a peer has reason for, it is dropped:
 * a pull expires, a cancelled chunk comes twice. */
static void tell(struct relay *r,
                 uint32_t peer,
                 enum relay_kind kind,
                 uint32_t chunk)
{
    struct lane *l = lane_of(r, peer);

    if (l && ring_put(&l->control, (uint32_t)kind << KIND_SHIFT | chunk) == 0)
        wake(r, l);
}

/* --- the log -------------------------------------------------------------- */

/* Is the entry for this peer?  It has one parent in the chunk's tree. */
static int is_for(const struct relay *r, const struct entry *e, uint32_t peer)
{
    const struct plan *p = r->s.plan;
    uint32_t parent, root;

    if (peer == e->from || peer == r->s.self || peer == PLAN_NOBODY)
        return 0;
    parent = plan_parent(p, peer, e->chunk);
    if (parent == r->s.self)
        return 1;
    if (!e->as_root)
        return 0;
    root = plan_give(p, e->chunk).node;
    return root != r->s.self && (peer == root || parent == root);
}

/* Wake those who get it; how many they are. */
static uint32_t wake_children(struct relay *r,
                              const struct entry *e,
                              uint32_t at)
{
    const struct plan *p = r->s.plan;
    uint32_t n = plan_children(p, at, e->chunk), to = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t peer = plan_child(p, at, e->chunk, i);
        struct lane *l;

        if (!is_for(r, e, peer) || r->presence[peer] == GONE)
            continue;
        l = lane_for_entry(r, peer);
        if (!l)
            continue; /* it will pull */
        to++;
        wake(r, l);
    }
    return to;
}

static struct entry *log_add(struct relay *r)
{
    struct entry *log = array_grow(r->log, &r->log_cap, r->n_log + (size_t)1,
                                   sizeof *log, LOG_MAX);

    if (!log)
        return NULL;
    r->log = log;
    return &r->log[r->n_log++];
}

/* Unlike what peers are told none of these may be lost: home would wait. */
static void report(struct relay *r, uint32_t chunk)
{
    uint32_t *grown =
        array_grow(r->report, &r->report_cap, r->n_report + (size_t)1,
                   sizeof *grown, LOG_MAX);

    if (!grown)
        return; /* home gives it again */
    r->report = grown;
    r->report[r->n_report++] = chunk;
    wake(r, lane_find(r, PLAN_NOBODY));
}

static int next_report(struct relay *r, struct relay_item *item)
{
    if (r->reported < r->n_report) {
        *item = (struct relay_item){RELAY_RELAYED, r->report[r->reported++]};
        return 1;
    }
    r->n_report = r->reported = 0;
    return 0;
}

static void relayed(struct relay *r, struct entry *e)
{
    e->to_relay = 0;
    report(r, e->chunk);
}

/* Pass a chunk on that came by its tree, or that home gave us. */
static void push(struct relay *r, uint32_t from, uint32_t chunk, int as_root)
{
    uint32_t root = plan_give(r->s.plan, chunk).node;
    struct entry *e;
    struct lane *l;

    if (!as_root && plan_children(r->s.plan, r->s.self, chunk) == 0) {
        if (from == PLAN_NOBODY)
            report(r, chunk);
        return;
    }
    e = log_add(r);
    if (!e)
        return; /* the others will pull */
    *e = (struct entry){
        .chunk = chunk, .from = from, .as_root = (uint8_t)as_root};
    e->to_send = wake_children(r, e, r->s.self);
    if (as_root && root != r->s.self) {
        e->to_send += wake_children(r, e, root);
        if (r->presence[root] != GONE
            && (l = lane_for_entry(r, root)) != NULL) {
            e->to_send++;
            wake(r, l);
        }
    }
    r->unsent += e->to_send;
    if (from != PLAN_NOBODY)
        return;
    /* Half of the copies for the root; what was re-given goes the way of a
     * chunk that somebody waits for: one. */
    e->to_relay = as_root ? 1 : (e->to_send + 1) / 2;
    if (e->to_send == 0)
        relayed(r, e);
}

/* One copy less to send, sent or not needed. */
static void settle_copy(struct relay *r, struct entry *e)
{
    e->to_send--;
    r->unsent--;
    if (e->to_relay > 0 && (--e->to_relay == 0 || e->to_send == 0))
        relayed(r, e);
}

/* --- pulls ---------------------------------------------------------------- */

static void flight_end(struct relay *r, unsigned i)
{
    r->flight[i] = r->flight[--r->n_flights];
}

static int flight_find(const struct relay *r, uint32_t chunk)
{
    for (unsigned i = 0; i < r->n_flights; i++)
        if (r->flight[i].pull.chunk == chunk)
            return (int)i;
    return -1;
}

/* The chunk is to be had elsewhere. */
static void flight_fail(struct relay *r, unsigned i)
{
    if (r->hold[r->flight[i].pull.chunk] == CHUNK_ASKED)
        r->hold[r->flight[i].pull.chunk] = CHUNK_MISSING;
    flight_end(r, i);
}

static void flight_expire(struct relay *r, unsigned i)
{
    uint32_t node = r->flight[i].pull.node;

    if (node != PLAN_NOBODY && r->presence[node] == PRESENT)
        r->presence[node] = SUSPECT;
    flight_fail(r, i);
}

/* It has said something. */
static void trust(struct relay *r, uint32_t peer)
{
    if (peer != PLAN_NOBODY && r->presence[peer] == SUSPECT)
        r->presence[peer] = PRESENT;
}

/* Nobody is left to be asked, and it may be that their answers were lost:
 * rather ask in vain than nobody. */
static void forgive(struct relay *r, double now)
{
    if (now - r->forgiven < FORGIVE_S)
        return;
    r->forgiven = now;
    for (uint32_t v = 0; v < r->s.plan->nodes; v++)
        trust(r, v);
}

static void take_off(struct relay *r, const struct pull *p, double now)
{
    double grace =
        PULL_GRACE + r->estimator.slot * (4.0 * r->s.plan->branches + 8);

    r->flight[r->n_flights++] = (struct flight){*p, now + grace};
    r->hold[p->chunk] = CHUNK_ASKED;
    tell(r, p->node, RELAY_PULL, p->chunk);
}

static struct pull_view view(struct relay *r, double now)
{
    return (struct pull_view){.plan = r->s.plan,
                              .estimator = &r->estimator,
                              .hold = r->hold,
                              .presence = r->presence,
                              .self = r->s.self,
                              .now = now,
                              .random = &r->s.random};
}

/* With somebody gone what is missing may never be pushed: two who waited for it
 * would wait for each other. */
static int serves(const struct relay *r)
{
    return (r->pushed_missing > 0 && r->n_gone == 0) || r->unsent > 0;
}

/* For all that is not pushed. */
static void pull_branches(struct relay *r, double now)
{
    struct pull_view v = view(r, now);
    struct pull p;

    if (r->missing == 0 || (r->s.strict && serves(r)))
        return;
    while (r->n_flights < PULLS_OTHERS && pull_choose(&p, &v, r->s.way))
        take_off(r, &p, now);
}

/* The other parents have brought so many chunks since this one's did: it is
 * not that the link is slow, but that this parent is. */
static int is_neglected(const struct relay *r, uint32_t chunk, double now)
{
    uint32_t parent = plan_parent(r->s.plan, r->s.self, chunk);

    return parent != PLAN_NOBODY && now - r->heard[parent].at > NEGLECT_S
           && r->got - r->heard[parent].got
                  > ROUNDS_MISSED * r->s.plan->branches + ROUNDS_MISSED;
}

/* Of the few who are left all have been asked after as many. */
static uint32_t refusals_max(const struct relay *r)
{
    uint32_t others = r->s.plan->nodes - 1 - r->n_gone;

    return r->n_gone > 0 && others < REFUSALS_MAX ? others : REFUSALS_MAX;
}

/* All who were to have it by their tree are gone: home is asked.  By lot, as
 * any other is chosen. */
static int is_orphan(struct relay *r, struct pull *p)
{
    for (int i = 0; i < HOLDER_DRAWS && r->n_gone > 0; i++) {
        uint32_t v =
            plan_holder(r->s.plan, p->chunk, pull_random(&r->s.random) >> 16);

        if (v != r->s.self && r->presence[v] != GONE)
            return 0;
    }
    p->node = PLAN_NOBODY;
    return r->n_gone > 0;
}

/* Repair: what is overdue, the first ones first, each with even odds, so that
 * not all nodes ask for the same ones at once. */
static void pull_overdue(struct relay *r, double now)
{
    struct pull_view v = view(r, now);
    uint32_t n = r->s.plan->chunks;

    for (uint32_t j = r->low; j < n && r->n_flights < PULLS_MAX; j++) {
        struct pull p = {.chunk = j};

        if (r->hold[j] != CHUNK_MISSING)
            continue;
        if (!estimator_late(&r->estimator, r->s.self, j, now))
            break; /* nor are the ones behind it */
        if (!(r->idle || is_neglected(r, j, now))
            || pull_random(&r->s.random) >> 63)
            continue;
        if (r->estimator.refusals > refusals_max(r)) {
            p.node = PLAN_NOBODY;
            r->estimator.refusals = 0;
            take_off(r, &p, now);
        } else if (pull_choose_node(&p, &v) || is_orphan(r, &p)) {
            take_off(r, &p, now);
        } else if (r->n_flights == 0) {
            forgive(r, now);
        }
    }
}

/* Is the link idle?  Compared with its own average: a slow one is not. */
static void measure(struct relay *r, double now)
{
    double passed = now - r->window_start, average;
    int starved = now - r->ticked > STARVED_S;

    r->ticked = now;
    /* The CPU had no time for us, whatever the link did.  But where every
     * tick is late, nothing would ever be repaired. */
    if (starved) {
        r->idle = now - r->came > NEGLECT_S + WINDOW_SLOTS * r->estimator.slot;
        r->window_bytes = 0;
        r->window_start = now;
        return;
    }
    if (passed < RATE_WINDOW || passed < WINDOW_SLOTS * r->estimator.slot)
        return;
    average = now > r->s.start ? r->bytes / (now - r->s.start) : 0;
    r->idle = r->window_bytes / passed < IDLE_SHARE * average || r->bytes <= 0;
    r->window_bytes = 0;
    r->window_start = now;
}

void relay_tick(struct relay *r, double now)
{
    measure(r, now);
    for (unsigned i = 0; i < r->n_flights;)
        if (now > r->flight[i].deadline)
            flight_expire(r, i);
        else
            i++;
    if (r->missing == 0)
        return;
    if (now - r->s.start > FIRST_S)
        estimator_missed(&r->estimator, r->s.self, r->low, now);
    if (r->s.plan->shape == PLAN_BRANCHES)
        pull_branches(r, now);
    if (r->pushed_missing > 0 || r->n_gone > 0)
        pull_overdue(r, now);
}

/* --- what has come -------------------------------------------------------- */

int relay_wants(const struct relay *r, uint32_t chunk)
{
    return chunk < r->s.plan->chunks && r->hold[chunk] != CHUNK_HELD;
}

static void keep(struct relay *r, uint32_t chunk)
{
    r->hold[chunk] = CHUNK_HELD;
    r->missing--;
    if (plan_is_pushed(r->s.plan, r->s.self, chunk))
        r->pushed_missing--;
    while (r->low < r->s.plan->chunks && r->hold[r->low] == CHUNK_HELD)
        r->low++;
}

/* What is asked elsewhere, or will be pushed, need not come again. */
static void cancel_others(struct relay *r, uint32_t peer, uint32_t chunk)
{
    int i = flight_find(r, chunk);
    uint32_t parent = plan_parent(r->s.plan, r->s.self, chunk);

    if (i >= 0 && r->flight[i].pull.node != peer)
        tell(r, r->flight[i].pull.node, RELAY_CANCEL, chunk);
    if (i >= 0)
        flight_end(r, (unsigned)i);
    if (parent != PLAN_NOBODY && parent != peer && r->presence[parent] != GONE)
        tell(r, parent, RELAY_CANCEL, chunk);
}

/* A strict node may be done serving. */
static void wake_answers(struct relay *r)
{
    if (!r->s.strict || serves(r))
        return;
    for (size_t i = 0; i < r->n_lanes; i++)
        if (r->lane[i].answers.n > 0)
            wake(r, &r->lane[i]);
}

/* With every chunk that comes or goes. */
static void go_on(struct relay *r, double now)
{
    if (r->s.plan->shape == PLAN_BRANCHES)
        pull_branches(r, now);
    wake_answers(r);
}

void relay_got(
    struct relay *r, uint32_t peer, uint32_t chunk, int as_root, double now)
{
    uint32_t size = r->s.plan->chunk;
    int is_new = relay_wants(r, chunk);
    int by_tree = peer == plan_parent(r->s.plan, r->s.self, chunk);
    int asked = is_new && r->hold[chunk] == CHUNK_ASKED;

    trust(r, peer);
    r->came = now;
    r->bytes += size;
    r->window_bytes += size;
    if (is_new) {
        keep(r, chunk);
        cancel_others(r, peer, chunk);
        if (asked)
            estimator_confirmed(&r->estimator);
    }
    r->got++;
    if (by_tree && peer != PLAN_NOBODY)
        r->heard[peer] = (struct heard){now, r->got};
    if (by_tree && is_new)
        estimator_saw(&r->estimator, r->s.self, chunk, now);
    /* Passed on once, whichever way it came first; but a root that has it not
     * from home was replaced, and the other one serves its children. */
    if ((as_root && !r->replaced[chunk])
        || (is_new
            && (peer == PLAN_NOBODY
                || plan_give(r->s.plan, chunk).node != r->s.self)))
        push(r, peer, chunk, as_root);
    else if (peer == PLAN_NOBODY)
        report(r, chunk); /* home did not know that it was passed on */
    if (as_root)
        r->replaced[chunk] = 1;
    go_on(r, now);
}

void relay_asked(struct relay *r, uint32_t peer, uint32_t chunk)
{
    struct lane *l;

    trust(r, peer);
    if (chunk >= r->s.plan->chunks || r->hold[chunk] != CHUNK_HELD) {
        tell(r, peer, RELAY_ABSENT, chunk);
        return;
    }
    l = lane_of(r, peer);
    if (!l)
        return; /* its pull expires */
    (void)ring_remove(&l->cancelled, chunk);
    if (ring_put(&l->answers, chunk) == 0)
        wake(r, l);
}

void relay_absent(struct relay *r, uint32_t peer, uint32_t chunk, double now)
{
    int i = flight_find(r, chunk);

    trust(r, peer);
    if (i < 0 || r->flight[i].pull.node != peer)
        return; /* too late to matter */
    flight_fail(r, (unsigned)i);
    estimator_refused(&r->estimator, now);
}

void relay_cancelled(struct relay *r, uint32_t peer, uint32_t chunk)
{
    struct lane *l = lane_of(r, peer);
    uint32_t oldest;

    if (!l || ring_remove(&l->answers, chunk))
        return;
    if (l->cancelled.n == RING)
        (void)ring_take(&l->cancelled, &oldest);
    (void)ring_put(&l->cancelled, chunk);
}

void relay_sent(struct relay *r, uint32_t peer, uint32_t chunk, double now)
{
    struct lane *l = lane_find(r, peer);

    if (!l || l->pushing == NOTHING || r->log[l->pushing].chunk != chunk)
        return; /* an answer */
    settle_copy(r, &r->log[l->pushing]);
    l->pushing = NOTHING;
    go_on(r, now);
}

/* --- what to send --------------------------------------------------------- */

static int next_push(struct relay *r, struct lane *l, struct relay_item *item)
{
    while (l->cursor < r->n_log) {
        struct entry *e = &r->log[l->cursor++];

        if (!is_for(r, e, l->peer))
            continue;
        if (ring_remove(&l->cancelled, e->chunk)) {
            settle_copy(r, e);
            continue;
        }
        *item = (struct relay_item){RELAY_CHUNK, e->chunk};
        l->pushing = l->cursor - 1;
        return 1;
    }
    return 0;
}

int relay_next(struct relay *r, uint32_t peer, struct relay_item *item)
{
    struct lane *l = lane_find(r, peer);
    uint32_t v;

    if (!l)
        return 0;
    if (ring_take(&l->control, &v)) {
        item->kind = (enum relay_kind)(v >> KIND_SHIFT);
        item->chunk = v & ((1u << KIND_SHIFT) - 1);
        return 1;
    }
    if (peer == PLAN_NOBODY && next_report(r, item))
        return 1;
    if (next_push(r, l, item))
        return 1;
    if (!(r->s.strict && serves(r)) && ring_take(&l->answers, &v)) {
        *item = (struct relay_item){RELAY_CHUNK, v};
        return 1;
    }
    l->ready = 0;
    return 0;
}

/* --- losses --------------------------------------------------------------- */

void relay_forget(struct relay *r, uint32_t peer)
{
    struct lane *l = lane_find(r, peer);

    if (peer == PLAN_NOBODY)
        r->n_report = r->reported = 0;
    if (l && peer == PLAN_NOBODY)
        lane_init(r, l, peer);
    else if (l)
        *l = r->lane[--r->n_lanes];
}

void relay_lost(struct relay *r, uint32_t peer)
{
    struct lane *l = lane_find(r, peer);

    if (peer != PLAN_NOBODY && r->presence[peer] != GONE) {
        r->presence[peer] = GONE;
        r->n_gone++;
    }
    for (unsigned i = 0; i < r->n_flights;)
        if (r->flight[i].pull.node == peer)
            flight_fail(r, i);
        else
            i++;
    if (l) {
        if (l->pushing != NOTHING)
            settle_copy(r, &r->log[l->pushing]);
        for (; l->cursor < r->n_log; l->cursor++)
            if (is_for(r, &r->log[l->cursor], peer))
                settle_copy(r, &r->log[l->cursor]);
        relay_forget(r, peer);
    }
    wake_answers(r);
}

/* --- begin and end -------------------------------------------------------- */

static void count_pushed(struct relay *r)
{
    if (r->s.plan->shape == PLAN_STRIPES) {
        r->pushed_missing = r->missing;
        return;
    }
    for (uint32_t j = 0; j < r->s.plan->chunks; j++)
        r->pushed_missing += (uint32_t)plan_is_pushed(r->s.plan, r->s.self, j);
}

struct relay *relay_create(const struct relay_setup *s)
{
    struct relay *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->s = *s;
    r->missing = s->plan->chunks;
    r->window_start = r->came = r->ticked = r->forgiven = s->start;
    r->hold = calloc(s->plan->chunks + 1u, 1);
    r->presence = calloc(s->plan->nodes, 1);
    r->replaced = calloc(s->plan->chunks + 1u, 1);
    r->heard = calloc(s->plan->nodes, sizeof *r->heard);
    if (!r->hold || !r->presence || !r->replaced || !r->heard
        || !lane_of(r, PLAN_NOBODY)) {
        relay_destroy(r);
        return NULL;
    }
    estimator_init(&r->estimator, r->s.plan, s->start, s->slot);
    count_pushed(r);
    return r;
}

void relay_destroy(struct relay *r)
{
    if (!r)
        return;
    free(r->hold);
    free(r->presence);
    free(r->replaced);
    free(r->heard);
    free(r->lane);
    free(r->log);
    free(r->report);
    free(r);
}

uint32_t relay_missing(const struct relay *r)
{
    return r->missing;
}

int relay_holds(const struct relay *r, uint32_t chunk)
{
    return r->hold[chunk] == CHUNK_HELD;
}
