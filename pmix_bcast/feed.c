/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/feed.h"
#include "pmix_bcast/pull.h"

#include <stdlib.h>

/* Chunks that a node may have been given and not relayed (study, BL = 6 to
 * 12), or this part of all if that is more: what the others wait for at most
 * when it stops. */
#define GIVEN_MIN  8u
#define GIVEN_PART 128u

#define BUDGET_MIN (64u << 10)
#define BUDGET_S   0.005 /* 64 KiB at 100 Mbit/s */

/* A node with something to relay is silent if it has said nothing for this,
 * and twice the longest that any relay has taken or should take. */
#define SILENCE_S 0.15

/* A root that is not connected is waited for until then: what others are
 * given in its place they must send to all. */
#define CONNECT_S 0.1

struct receiver {
    uint64_t queued;
    uint32_t given; /* and not relayed */
    double heard;
    uint8_t connected, silent;
};

struct feed {
    const struct plan *plan;
    uint64_t random;
    uint32_t next; /* of plan_give() */
    uint32_t used; /* nodes 0 to used - 1 */
    struct receiver *node;
    /* Of each chunk: who was given it last, PLAN_NOBODY once it is relayed or
     * to be given again; and since when. */
    uint32_t *owner;
    double *since;
    uint32_t *again; /* a stack of chunks */
    uint32_t n_again, n_owned;
    double start, slowest, bytes_given;
    double now;
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
    f->since = calloc(p->chunks + 1u, sizeof *f->since);
    f->again = calloc(p->chunks + 1u, sizeof *f->again);
    if (!f->node || !f->owner || !f->since || !f->again) {
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
    free(f->since);
    free(f->again);
    free(f);
}

static double rate(const struct feed *f)
{
    double passed = f->now - f->start;

    return passed > 0 ? f->bytes_given / passed : 0;
}

uint64_t feed_budget(const struct feed *f)
{
    double budget = rate(f) * BUDGET_S;

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

static int is_free(const struct feed *f, uint32_t node)
{
    const struct receiver *r = &f->node[node];
    uint64_t room = feed_budget(f) / 2;

    if (!r->connected || r->silent)
        return 0;
    if (f->plan->shape == PLAN_BRANCHES)
        return 1; /* the seed's: each gets its chunks, come what may */
    if (room < 2u * f->plan->chunk)
        room = 2u * f->plan->chunk;
    return r->given < given_max(f) && r->queued < room;
}

/* Of the free ones the one with the least before it, from a random one on:
 * always the next one would double its neighbour's load (study, P5). */
static uint32_t least_loaded(struct feed *f)
{
    uint32_t first = (uint32_t)((pull_random(&f->random) >> 32) % f->used);
    uint32_t best = PLAN_NOBODY;
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < f->used; i++) {
        uint32_t v = (first + i) % f->used;
        uint64_t load =
            (uint64_t)f->node[v].given * f->plan->chunk + f->node[v].queued;

        if (is_free(f, v) && load < least) {
            best = v;
            least = load;
        }
    }
    return best;
}

static uint32_t choose(struct feed *f, uint32_t root)
{
    if (is_free(f, root))
        return root;
    if (f->node[root].silent)
        return least_loaded(f);
    if (f->plan->shape == PLAN_BRANCHES
        || (!f->node[root].connected && f->now - f->start < CONNECT_S))
        return PLAN_NOBODY; /* wait for it */
    return least_loaded(f);
}

int feed_next(struct feed *f, struct feed_give *g, double now)
{
    struct give due;
    struct receiver *r;

    f->now = now;
    if (f->n_again > 0)
        due = plan_give(f->plan, f->again[f->n_again - 1]);
    else if (f->next < plan_gives(f->plan))
        due = plan_give(f->plan, f->next);
    else
        return 0;
    g->chunk = due.chunk;
    g->node = choose(f, due.node);
    g->as_root = g->node != due.node;
    if (g->node == PLAN_NOBODY)
        return 0;
    if (f->n_again > 0)
        f->n_again--;
    else
        f->next++;
    r = &f->node[g->node];
    if (r->given++ == 0)
        r->heard = now; /* until now it had nothing to say */
    f->n_owned += f->owner[g->chunk] == PLAN_NOBODY;
    f->owner[g->chunk] = g->node;
    f->since[g->chunk] = now;
    f->bytes_given += f->plan->chunk;
    return 1;
}

/* What node was given and has not relayed goes to others. */
static void give_again(struct feed *f, uint32_t node)
{
    for (uint32_t j = 0; j < f->plan->chunks; j++)
        if (f->owner[j] == node) {
            f->owner[j] = PLAN_NOBODY;
            f->again[f->n_again++] = j;
            f->n_owned--;
        }
    f->node[node].given = 0;
}

void feed_connected(struct feed *f, uint32_t node, double now)
{
    if (node >= f->used)
        return;
    f->node[node].connected = 1;
    f->node[node].heard = now;
}

void feed_lost(struct feed *f, uint32_t node)
{
    if (node >= f->used)
        return;
    f->node[node].connected = 0;
    f->node[node].silent = 1;
    give_again(f, node);
}

void feed_relayed(struct feed *f, uint32_t node, uint32_t chunk, double now)
{
    double took;

    if (node >= f->used || chunk >= f->plan->chunks)
        return;
    f->node[node].heard = now;
    if (f->node[node].connected)
        f->node[node].silent = 0;
    if (f->owner[chunk] != node)
        return; /* it was thought silent, and another has it too */
    took = now - f->since[chunk];
    if (took > f->slowest)
        f->slowest = took;
    f->owner[chunk] = PLAN_NOBODY;
    f->n_owned--;
    if (f->node[node].given > 0)
        f->node[node].given--;
}

void feed_queued(struct feed *f, uint32_t node, uint64_t bytes)
{
    if (node < f->used)
        f->node[node].queued = bytes;
}

/* A chunk's way to all children of its root. */
static double relay_time(const struct feed *f)
{
    double children = f->plan->nodes < f->plan->branches * 2.0
                          ? f->plan->nodes
                          : f->plan->branches * 2.0;
    double g = rate(f);

    return g > 0 ? given_max(f) * children * f->plan->chunk / g : 0;
}

void feed_tick(struct feed *f, double now)
{
    double limit;

    f->now = now;
    limit = relay_time(f) > f->slowest ? relay_time(f) : f->slowest;
    for (uint32_t v = 0; v < f->used; v++) {
        struct receiver *r = &f->node[v];

        if (r->given == 0 || r->silent
            || now - r->heard < SILENCE_S + 2 * limit)
            continue;
        r->silent = 1;
        give_again(f, v);
    }
}

int feed_is_done(const struct feed *f)
{
    return f->next >= plan_gives(f->plan) && f->n_again == 0 && f->n_owned == 0;
}
