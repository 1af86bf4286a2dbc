/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/feed.h"
#include "pmix_bcast/pull.h"

#include <stdlib.h>

/* Chunks that a node may have been given and not relayed, or this part of all
 * if that is more: the others wait for them when it stops.  In simulations 6 to
 * 12 are best. */
#define GIVEN_MIN  8u
#define GIVEN_PART 128u

#define BUDGET_MIN (128u << 10)
#define BUDGET_S   0.01 /* 128 KiB at 100 Mbit/s; a busy CPU is late by ms */

/* A node with something to relay is silent if it has said nothing for this
 * long and the time that it took for as many chunks so far. */
#define SILENCE_S      0.1
#define SILENCE_CHUNKS GIVEN_MIN
/* At most, of one that never said anything: what is fair for a chunk grows
 * with the time while home can give nothing. */
#define SILENCE_MAX_S 2.0

/* The share of the data that may be given again in the end just because a
 * node is slow. */
#define SPARE 0.01

/* The share of the latest in a node's time for a chunk. */
#define LATEST 0.25

/* A root that is not connected is waited for until then: what others are
 * given in its place they must send to all. */
#define CONNECT_S 0.1

enum there { /* a chunk, with its root, before it is given */
             NOT_THERE,
             THERE,
             THERE_RELAYED, /* and passed on */
};

struct receiver {
    uint64_t queued;
    uint32_t given;  /* and not relayed */
    double heard;    /* when it last relayed, or was given its first */
    double interval; /* that it takes for a chunk; 0: not known */
    uint8_t connected, silent;
    uint32_t had;   /* chunks, before */
    uint32_t stock; /* of these, due and not relayed */
};

struct feed {
    const struct plan *plan;
    uint64_t random;
    uint32_t next; /* of plan_give() */
    uint32_t used; /* nodes 0 to used - 1 */
    struct receiver *node;
    /* Of each chunk: who was given it last, PLAN_NOBODY once it is relayed or
     * to be given again. */
    uint32_t *owner;
    uint8_t *there;  /* of each chunk: enum there */
    uint32_t *again; /* a stack of chunks */
    uint32_t n_again, n_owned;
    double spared; /* bytes given again because a node is slow */
    double start, bytes_given, now;
    uint64_t queued; /* for all nodes */
};

struct feed *feed_create(const struct plan *p, uint64_t random, double start)
{
    struct feed *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->plan = p;
    f->random = random;
    f->start = f->now = start;
    f->used = plan_used(p);
    f->node = calloc(f->used, sizeof *f->node);
    f->owner = calloc(p->chunks + 1u, sizeof *f->owner);
    f->there = calloc(p->chunks + 1u, 1);
    f->again = calloc(p->chunks + 1u, sizeof *f->again);
    if (!f->node || !f->owner || !f->there || !f->again) {
        feed_destroy(f);
        return NULL;
    }
    for (uint32_t j = 0; j < p->chunks; j++)
        f->owner[j] = PLAN_NOBODY;
    return f;
}

void feed_destroy(struct feed *f)
{
    if (!f)
        return;
    free(f->node);
    free(f->owner);
    free(f->there);
    free(f->again);
    free(f);
}

/* A node is slow if it takes that many times as long as it should. */
#define SLOWER 1.5

static double rate(const struct feed *f)
{
    double passed = f->now - f->start;

    return passed > 0 ? f->bytes_given / passed : 0;
}

/* Bytes a second that have gone.  What was given and waits does not count: a
 * budget that grows with what it lets in would grow without end. */
static double rate_gone(const struct feed *f)
{
    double passed = f->now - f->start;
    double gone = f->bytes_given - (double)f->queued;

    return passed > 0 && gone > 0 ? gone / passed : 0;
}

uint64_t feed_budget(const struct feed *f)
{
    double budget = rate_gone(f) * BUDGET_S;

    if (budget < BUDGET_MIN)
        budget = BUDGET_MIN;
    if (budget < 2.0 * f->plan->chunk)
        budget = 2.0 * f->plan->chunk;
    return (uint64_t)budget;
}

static uint32_t given_max(const struct feed *f)
{
    uint32_t n = f->plan->chunks / GIVEN_PART;

    return n > GIVEN_MIN ? n : GIVEN_MIN;
}

/* A chunk's way to all children of its root, as the links should allow. */
static double fair_interval(const struct feed *f)
{
    double k = f->plan->branches, g = rate(f);

    return g > 0 ? k * f->plan->chunk / g : 0;
}

static double interval(const struct feed *f, uint32_t node)
{
    const struct receiver *r = &f->node[node];

    return r->interval > 0 ? r->interval : fair_interval(f);
}

/* How long until the node has relayed what it has and one chunk more. */
static double finish(const struct feed *f, uint32_t node)
{
    return (f->node[node].given + 1) * interval(f, node);
}

static int is_free(const struct feed *f, uint32_t node)
{
    const struct receiver *r = &f->node[node];
    uint64_t room = feed_budget(f) / 2;

    if (!r->connected || r->silent)
        return 0;
    if (f->plan->shape == PLAN_BRANCHES)
        return 1; /* each gets the chunks of its branch, come what may */
    if (room < 2u * f->plan->chunk)
        room = 2u * f->plan->chunk;
    return r->queued < room
           && (r->given == 0
               || finish(f, node) <= given_max(f) * fair_interval(f));
}

/* It had most chunks before, and perhaps any. */
static int had_most(const struct feed *f, uint32_t node)
{
    return f->node[node].had > f->plan->chunks / 2;
}

/* Of the free ones the one that is done first, from a random one on: always
 * the next one would double its neighbour's load.  any: also one that may have
 * the chunk itself. */
static uint32_t soonest(struct feed *f, int any)
{
    uint32_t first = (uint32_t)((pull_random(&f->random) >> 32) % f->used);
    uint32_t best = PLAN_NOBODY;

    for (uint32_t i = 0; i < f->used; i++) {
        uint32_t v = (first + i) % f->used;

        if (is_free(f, v) && (any || !had_most(f, v))
            && (best == PLAN_NOBODY || finish(f, v) < finish(f, best)))
            best = v;
    }
    return best;
}

static int is_slow(const struct feed *f, uint32_t node)
{
    return interval(f, node) > SLOWER * fair_interval(f);
}

/* Would all wait for this node in the end?  Not as long as home itself has
 * that much to give, or the others are not much faster. */
static int would_be_last(const struct feed *f, uint32_t node)
{
    double left = rate(f) > 0 ? (double)(plan_gives(f->plan) - f->next)
                                    * f->plan->chunk / rate(f)
                              : 0;

    return finish(f, node) > left && is_slow(f, node);
}

static uint32_t choose(struct feed *f, uint32_t root)
{
    uint32_t other;

    if (is_free(f, root)) {
        if (f->plan->shape == PLAN_BRANCHES || !would_be_last(f, root))
            return root;
        other = soonest(f, 0);
        return other != PLAN_NOBODY && finish(f, other) < finish(f, root)
                   ? other
                   : root;
    }
    if (f->node[root].silent)
        return soonest(f, 1);
    if (f->plan->shape == PLAN_BRANCHES
        || (!f->node[root].connected && f->now - f->start < CONNECT_S))
        return PLAN_NOBODY; /* wait for it */
    return soonest(f, !f->node[root].connected);
}

static void own(struct feed *f, uint32_t chunk, uint32_t node)
{
    f->n_owned += f->owner[chunk] == PLAN_NOBODY;
    f->owner[chunk] = node;
}

/* The next in turn is where it is to go: then its root passes it on by itself. */
static int next_there(struct feed *f, struct feed_give *g)
{
    int is_again = f->n_again > 0;
    struct give due;

    if (!is_again && f->next == plan_gives(f->plan))
        return 0;
    due = plan_give(f->plan, is_again ? f->again[f->n_again - 1] : f->next);
    if (f->there[due.chunk] == NOT_THERE
        || (f->there[due.chunk] == THERE && f->node[due.node].silent))
        return 0;
    if (f->there[due.chunk] == THERE) {
        own(f, due.chunk, due.node);
        if (f->node[due.node].stock++ == 0 && f->node[due.node].given == 0)
            f->node[due.node].heard = f->now;
    }
    if (is_again)
        f->n_again--;
    else
        f->next++;
    *g = (struct feed_give){due.chunk, due.node, 0, 1};
    return 1;
}

int feed_next(struct feed *f, struct feed_give *g, double now)
{
    struct give due;
    struct receiver *r;

    f->now = now;
    if (next_there(f, g))
        return 1;
    if (f->n_again > 0)
        due = plan_give(f->plan, f->again[f->n_again - 1]);
    else if (f->next < plan_gives(f->plan))
        due = plan_give(f->plan, f->next);
    else
        return 0;
    g->chunk = due.chunk;
    g->node = choose(f, due.node);
    g->as_root = g->node != due.node;
    g->is_there = 0;
    if (g->node == PLAN_NOBODY)
        return 0;
    f->there[g->chunk] = NOT_THERE;
    if (f->n_again > 0)
        f->n_again--;
    else
        f->next++;
    r = &f->node[g->node];
    if (r->given++ == 0)
        r->heard = now; /* until now it had nothing to say */
    own(f, g->chunk, g->node);
    f->bytes_given += f->plan->chunk;
    return 1;
}

/* What node was given and has not relayed goes to others. */
static void give_again(struct feed *f, uint32_t node)
{
    for (uint32_t j = 0; j < f->plan->chunks; j++) {
        if (f->owner[j] == node) {
            f->owner[j] = PLAN_NOBODY;
            f->again[f->n_again++] = j;
            f->n_owned--;
        }
    }
    f->node[node].given = f->node[node].stock = 0;
}

void feed_connected(struct feed *f, uint32_t node, double now)
{
    if (node >= f->used)
        return;
    if (!f->node[node].connected)
        f->node[node].silent = 0; /* it was lost, and is back */
    f->node[node].connected = 1;
    f->node[node].heard = now;
}

void feed_has(struct feed *f, uint32_t node, uint32_t first, uint32_t n)
{
    if (node >= f->used || n == 0)
        return;
    f->node[node].had += n;
    for (uint32_t j = first; j < first + n; j++)
        if (j >= f->next && f->there[j] == NOT_THERE
            && plan_give(f->plan, j).node == node)
            f->there[j] = THERE;
}

void feed_lost(struct feed *f, uint32_t node)
{
    if (node >= f->used)
        return;
    f->node[node].connected = 0;
    f->node[node].silent = 1;
    feed_queued(f, node, 0);
    give_again(f, node);
    f->node[node].had = 0;
    for (uint32_t j = 0; j < f->plan->chunks; j++)
        if (f->there[j] == THERE && plan_give(f->plan, j).node == node)
            f->there[j] = NOT_THERE;
}

void feed_again(struct feed *f, uint32_t node)
{
    if (node < f->used)
        give_again(f, node);
}

/* It has been relayed after all. */
static void forget_again(struct feed *f, uint32_t chunk)
{
    for (uint32_t i = 0; i < f->n_again; i++)
        if (f->again[i] == chunk) {
            f->again[i] = f->again[--f->n_again];
            return;
        }
}

void feed_relayed(struct feed *f, uint32_t node, uint32_t chunk, double now)
{
    struct receiver *r;
    double took;
    int is_stock;

    if (node >= f->used || chunk >= f->plan->chunks)
        return;
    r = &f->node[node];
    took = now - r->heard;
    if (r->given > 0 && f->there[chunk] == NOT_THERE)
        r->interval = r->interval > 0
                          ? r->interval + LATEST * (took - r->interval)
                          : took;
    r->heard = now;
    if (r->connected)
        r->silent = 0;
    if (f->owner[chunk] == PLAN_NOBODY)
        forget_again(f, chunk);
    is_stock =
        f->there[chunk] == THERE && plan_give(f->plan, chunk).node == node;
    if (is_stock)
        f->there[chunk] = THERE_RELAYED;
    if (f->owner[chunk] != node)
        return; /* it was thought silent, and another has it too */
    f->owner[chunk] = PLAN_NOBODY;
    f->n_owned--;
    if (is_stock && r->stock > 0)
        r->stock--;
    else if (!is_stock && r->given > 0)
        r->given--;
}

uint32_t feed_given(const struct feed *f, uint32_t node)
{
    return node < f->used ? f->node[node].given : 0;
}

void feed_queued(struct feed *f, uint32_t node, uint64_t bytes)
{
    if (node >= f->used)
        return;
    f->queued += bytes - f->node[node].queued;
    f->node[node].queued = bytes;
}

uint64_t feed_waiting(const struct feed *f)
{
    uint64_t most = feed_budget(f) / 3 + 1, sum = 0; /* three are all of it */

    for (uint32_t v = 0; v < f->used; v++) {
        const struct receiver *r = &f->node[v];

        if (r->connected && !r->silent)
            sum += r->queued < most ? r->queued : most;
    }
    return sum;
}

static int is_silent(const struct feed *f, uint32_t node)
{
    const struct receiver *r = &f->node[node];
    double limit = SILENCE_S + SILENCE_CHUNKS * interval(f, node);

    if ((r->interval <= 0 && limit > SILENCE_MAX_S) || r->given == 0)
        limit = SILENCE_MAX_S; /* nor is one in a hurry that sends from stock */
    return f->now - r->heard >= limit;
}

/* In the end, when home has nothing else to give, all would wait for a slow
 * one; what it has to relay is better given to another. */
static int is_waited_for(struct feed *f, uint32_t node)
{
    double more = (double)f->node[node].given * f->plan->chunk;
    int is_end = f->next >= plan_gives(f->plan) && f->n_again == 0;

    if (!is_end || f->plan->shape != PLAN_STRIPES || !is_slow(f, node)
        || f->spared + more > SPARE * (double)f->plan->bytes)
        return 0;
    f->spared += more;
    return 1;
}

void feed_tick(struct feed *f, double now)
{
    f->now = now;
    for (uint32_t v = 0; v < f->used; v++) {
        struct receiver *r = &f->node[v];

        if ((r->given == 0 && r->stock == 0) || r->silent
            || (!is_silent(f, v) && !is_waited_for(f, v)))
            continue;
        r->silent = 1;
        give_again(f, v);
    }
}

int feed_is_done(const struct feed *f)
{
    return f->next >= plan_gives(f->plan) && f->n_again == 0 && f->n_owned == 0;
}
