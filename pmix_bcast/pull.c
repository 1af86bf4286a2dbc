/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/pull.h"

/* Draws before we say that there is none: even if just a tenth of the nodes
 * would do, all of them miss in 3 of 100 calls, and the next is not far. */
#define DRAWS 32

/* xorshift64* (Vigna 2016): the choice need not be secret. */
uint64_t pull_random(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

/* High bits: the low ones of xorshift are its weak ones. */
static uint32_t draw(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((pull_random(state) >> 32) * n) >> 32);
}

static int may_ask(const struct pull_view *v, uint32_t node, uint32_t chunk)
{
    return node != v->self && v->presence[node] == PRESENT
           && estimator_holds(v->estimator, node, chunk, v->now);
}

/* Missing, and none of those that are pushed to us anyway. */
static int is_wanted(const struct pull_view *v, uint32_t chunk)
{
    return v->hold[chunk] == CHUNK_MISSING
           && !plan_is_pushed(v->plan, v->self, chunk);
}

int pull_choose_node(struct pull *choice, const struct pull_view *v)
{
    uint32_t parent = plan_parent(v->plan, v->self, choice->chunk);

    for (int i = 0; i < DRAWS; i++) {
        choice->node =
            plan_holder(v->plan, choice->chunk, pull_random(v->random) >> 16);
        if (choice->node != parent /* it pushes it */
            && may_ask(v, choice->node, choice->chunk))
            return 1;
    }
    /* With nobody else left: a root whose place another took does not. */
    choice->node = parent;
    return parent != PLAN_NOBODY && may_ask(v, parent, choice->chunk);
}

/* Way A: a missing chunk that its first holder has by now, then a holder. */
static int by_chunk(struct pull *choice, const struct pull_view *v)
{
    uint32_t n = v->plan->chunks, first = draw(v->random, n);

    for (uint32_t i = 0; i < n; i++) {
        struct give g;

        choice->chunk = first + i < n ? first + i : first + i - n;
        if (!is_wanted(v, choice->chunk))
            continue;
        g = plan_give(v->plan, choice->chunk);
        if (estimator_holds(v->estimator, g.node, g.chunk, v->now))
            return pull_choose_node(choice, v);
    }
    return 0;
}

/* Way B: a node, then the first from a random chunk on that it should have. */
static int by_node(struct pull *choice, const struct pull_view *v)
{
    uint32_t n = v->plan->chunks;

    for (int draws = 0; draws < DRAWS; draws++) {
        uint32_t first = draw(v->random, n);

        choice->node = draw(v->random, v->plan->nodes);
        for (uint32_t i = 0; i < n; i++) {
            choice->chunk = first + i < n ? first + i : first + i - n;
            if (is_wanted(v, choice->chunk)
                && plan_is_pushed(v->plan, choice->node, choice->chunk)
                && may_ask(v, choice->node, choice->chunk))
                return 1;
        }
    }
    return 0;
}

/* A chunk of that branch from the node in our place there: none while another chunk
 * of it is on its way. */
static int of_branch(struct pull *choice,
                     const struct pull_view *v,
                     uint32_t branch)
{
    const struct plan *p = v->plan;
    uint32_t k = p->branches, wanted = p->chunks;
    uint32_t first = p->chunks < k ? branch % p->chunks : branch;

    choice->node = v->self / k * k + branch;
    if (choice->node >= p->nodes)
        return 0;
    for (uint32_t j = first; j < p->chunks; j += k) {
        if (v->hold[j] == CHUNK_ASKED)
            return 0;
        if (wanted == p->chunks && is_wanted(v, j))
            wanted = j;
    }
    choice->chunk = wanted;
    return wanted < p->chunks && may_ask(v, choice->node, wanted);
}

/* What is asked for in a slot comes in the next one.  Who has that already asks for
 * the turn behind it, and so on.  Once all must have their branch's chunk, who waits
 * for one from each branch that it lacks, as for a slow node's, asks by lot. */
static int by_turn(struct pull *choice, const struct pull_view *v)
{
    const struct estimator *e = v->estimator;
    uint32_t k = v->plan->branches;
    double turn = e->slot > 0 ? (v->now - e->start) / e->slot + 1 : 0;

    if (v->plan->shape != PLAN_BRANCHES || turn < 1)
        return 0;
    for (uint32_t i = 0; i < k; i++) {
        uint64_t branch = v->self % k + (uint64_t)turn + i;

        if (of_branch(choice, v, (uint32_t)(branch % k)))
            return 1;
    }
    return turn < 2.0 * k ? 0 : by_chunk(choice, v);
}

int pull_choose(struct pull *choice,
                const struct pull_view *v,
                enum pull_way way)
{
    if (v->plan->chunks == 0)
        return 0;
    if (way == PULL_BY_TURN)
        return by_turn(choice, v);
    return way == PULL_BY_CHUNK ? by_chunk(choice, v) : by_node(choice, v);
}
