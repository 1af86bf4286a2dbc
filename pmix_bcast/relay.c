/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/relay.h"

#include <stdlib.h>
#include <string.h>

#define PULLS_MAX    8    /* in flight */
#define PULLS_OTHERS 2    /* of other branches: one on its way, one asked */
#define RATE_WINDOW  0.02 /* s over which a link is idle or not */
#define WINDOW_SLOTS 16   /* and at least so many chunks' time */
#define IDLE_SHARE   0.5  /* of its average rate */
/* A tick that comes so late: the CPU is the limit, not links.  More than the
 * 4 to 8 ms that a kernel without fine timers makes of RELAY_TICK. */
#define STARVED_S 0.02
#define FORGIVE_S 0.5 /* so often at most */
/* Of the turns in which each parent brings a chunk: a parent that misses so
 * many is not waited for. */
#define ROUNDS_MISSED 6u
/* But for so long every process waits for its turn on a busy CPU. */
#define NEGLECT_S 0.1
/* One who sends from what it had is waited for until it has sent none for so long. */
#define STOCK_S 0.5
/* No chunk has come for so long, or before the first none by its tree: who was to
 * push is gone or cannot reach us, or home has nothing to give yet.  Well below
 * the least after which home gives a node up. */
#define SILENCE_S 2.0
/* A pull that is not answered: some time beyond what is late. */
#define PULL_GRACE 0.02
/* So many refusals in a row, and home is asked: perhaps nobody has it. */
#define REFUSALS_MAX 16u
/* That all of so many are gone is enough to say that all are. */
#define HOLDER_DRAWS 64

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
    struct outbox outbox;
    struct flight flight[PULLS_MAX];
    unsigned n_flights;
    double bytes, window_bytes, window_start; /* of what comes in */
    double came;                              /* when the last chunk did */
    double ticked, forgiven;
    int idle;
};

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
    outbox_tell(&r->outbox, p->node, RELAY_PULL, p->chunk);
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
    return (r->pushed_missing > 0 && r->n_gone == 0) || r->outbox.unsent > 0;
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

/* Its parent had it before, and sends it whenever there is room on the way: that
 * tells nothing of when others come. */
static int is_from_stock(const struct relay *r, uint32_t chunk)
{
    uint32_t parent = plan_parent(r->s.plan, r->s.self, chunk);

    return parent != PLAN_NOBODY && r->presence[parent] != GONE
           && outbox_peer_had(&r->outbox, parent, chunk);
}

/* And it is at work. */
static int is_to_come(const struct relay *r, uint32_t chunk, double now)
{
    double heard;

    if (!is_from_stock(r, chunk))
        return 0;
    heard = r->heard[plan_parent(r->s.plan, r->s.self, chunk)].at;
    return now - (heard > r->s.start ? heard : r->s.start) < STOCK_S;
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

/* What is missing is late, however long chunks took before: where the first one came
 * late, as its sender began late, that is far too long. */
static int is_quiet(const struct relay *r, double now)
{
    if (r->estimator.slot > 0 && r->bytes <= 0)
        return 0; /* down a long chain of large chunks */
    return now - (r->estimator.slot > 0 ? r->came : r->s.start) > SILENCE_S;
}

/* Repair: what is overdue, the first ones first, each with even odds, so that
 * not all nodes ask for the same ones at once. */
static void pull_overdue(struct relay *r, double now)
{
    struct pull_view v = view(r, now);
    uint32_t n = r->s.plan->chunks;
    int is_idle = r->idle || is_quiet(r, now);

    for (uint32_t j = r->low; j < n && r->n_flights < PULLS_MAX; j++) {
        struct pull p = {.chunk = j};

        if (r->hold[j] != CHUNK_MISSING)
            continue;
        if (!estimator_late(&r->estimator, r->s.self, j, now))
            break; /* nor are the ones behind it */
        if (!(is_idle || is_neglected(r, j, now)) || is_to_come(r, j, now)
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
    if (is_quiet(r, now))
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
        outbox_tell(&r->outbox, r->flight[i].pull.node, RELAY_CANCEL, chunk);
    if (i >= 0)
        flight_end(r, (unsigned)i);
    if (parent != PLAN_NOBODY && parent != peer && r->presence[parent] != GONE)
        outbox_tell(&r->outbox, parent, RELAY_CANCEL, chunk);
}

/* A strict node may be done serving. */
static void wake_answers(struct relay *r)
{
    if (r->s.strict && !serves(r))
        outbox_wake_answers(&r->outbox);
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
    int in_turn = !is_from_stock(r, chunk);
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
    r->got += (uint32_t)in_turn;
    if (by_tree && peer != PLAN_NOBODY)
        r->heard[peer] = (struct heard){now, r->got};
    if (by_tree && in_turn && is_new)
        estimator_saw(&r->estimator, r->s.self, chunk, now);
    /* Passed on once, whichever way it came first; but a root that has it not
     * from home was replaced, and the other one serves its children. */
    if ((as_root && !r->replaced[chunk])
        || (is_new
            && (peer == PLAN_NOBODY
                || plan_give(r->s.plan, chunk).node != r->s.self)))
        outbox_push(&r->outbox, peer, chunk, as_root);
    else if (peer == PLAN_NOBODY)
        outbox_report(&r->outbox,
                      chunk); /* home did not know that it was passed on */
    if (as_root)
        r->replaced[chunk] = 1;
    go_on(r, now);
}

void relay_expects(struct relay *r, uint32_t first, uint32_t n)
{
    for (uint32_t j = first; j < first + n; j++)
        if (r->hold[j] == CHUNK_MISSING)
            r->hold[j] = CHUNK_ASKED;
}

void relay_has(struct relay *r, uint32_t chunk, double now)
{
    keep(r, chunk);
    outbox_push(&r->outbox, plan_parent(r->s.plan, r->s.self, chunk), chunk, 0);
    go_on(r, now);
}

void relay_peer_has(struct relay *r, uint32_t peer, uint32_t first, uint32_t n)
{
    trust(r, peer);
    outbox_peer_has(&r->outbox, peer, first, n);
    wake_answers(r);
}

int relay_serves(const struct relay *r, uint32_t peer, uint32_t chunk)
{
    return plan_parent(r->s.plan, peer, chunk) == r->s.self
           && !outbox_peer_had(&r->outbox, peer, chunk);
}

int relay_is_idle(struct relay *r, uint32_t peer)
{
    return outbox_is_idle(&r->outbox, peer);
}

void relay_asked(struct relay *r, uint32_t peer, uint32_t chunk)
{
    trust(r, peer);
    if (chunk < r->s.plan->chunks && r->hold[chunk] == CHUNK_HELD)
        outbox_answer(&r->outbox, peer, chunk);
    else
        outbox_tell(&r->outbox, peer, RELAY_ABSENT, chunk);
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
    outbox_cancel(&r->outbox, peer, chunk);
}

void relay_sent(struct relay *r, uint32_t peer, uint32_t chunk, double now)
{
    if (outbox_sent(&r->outbox, peer, chunk))
        go_on(r, now);
}

void relay_unsent(struct relay *r, uint32_t peer, uint32_t chunk, double now)
{
    relay_sent(r, peer, chunk, now);
    outbox_answer(&r->outbox, peer, chunk);
}

int relay_next(struct relay *r, uint32_t peer, struct relay_item *item)
{
    return outbox_next(&r->outbox, peer, !(r->s.strict && serves(r)), item);
}

/* --- losses --------------------------------------------------------------- */

void relay_lost(struct relay *r, uint32_t peer)
{
    if (peer != PLAN_NOBODY && r->presence[peer] != GONE) {
        r->presence[peer] = GONE;
        r->n_gone++;
    }
    for (unsigned i = 0; i < r->n_flights;)
        if (r->flight[i].pull.node == peer)
            flight_fail(r, i);
        else
            i++;
    outbox_lost(&r->outbox, peer);
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

static int make_parts(struct relay *r)
{
    const struct plan *p = r->s.plan;
    struct outbox_setup setup = {
        .plan = p, .self = r->s.self, .wake = r->s.wake, .arg = r->s.arg};

    r->hold = calloc(p->chunks + 1u, 1);
    setup.presence = r->presence = calloc(p->nodes, 1);
    r->replaced = calloc(p->chunks + 1u, 1);
    r->heard = calloc(p->nodes, sizeof *r->heard);
    return r->hold && r->presence && r->replaced && r->heard
               ? outbox_init(&r->outbox, &setup)
               : -1;
}

static void begin(struct relay *r, double now)
{
    r->s.start = r->window_start = r->came = r->ticked = r->forgiven = now;
    estimator_init(&r->estimator, r->s.plan, now, r->s.slot);
}

void relay_begin(struct relay *r, double now)
{
    if (r->bytes <= 0)
        begin(r, now);
}

struct relay *relay_create(const struct relay_setup *s)
{
    struct relay *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->s = *s;
    r->missing = s->plan->chunks;
    if (make_parts(r) < 0) {
        relay_destroy(r);
        return NULL;
    }
    begin(r, s->start);
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
    outbox_clear(&r->outbox);
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
