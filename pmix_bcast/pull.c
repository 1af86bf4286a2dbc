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

int pull_choose(struct pull *choice,
                const struct pull_view *v,
                enum pull_way way)
{
    if (v->plan->chunks == 0)
        return 0;
    return way == PULL_BY_CHUNK ? by_chunk(choice, v) : by_node(choice, v);
}
