/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/gather.h"

#include <math.h>
#include <string.h>

#define TIME_MAX_NS 1e17 /* 3 years: the page may hold anything */
#define FEW         4    /* parts of RANKS_REGIONS that are too few */

static struct msg_region *place_of(struct gather *g, uint64_t number)
{
    return &g->pending[number / g->stride % GATHER_PENDING];
}

void gather_add(struct gather *g,
                uint64_t number,
                uint32_t rank,
                const struct meter_region *region)
{
    struct msg_region *at = place_of(g, number);

    if (number % g->stride
        || (at->sum.ranks > 0 && at->number > number)) /* it has gone by */
        return;
    if (at->sum.ranks == 0 || at->number != number)
        *at = (struct msg_region){
            .number = number, .loop = region->loop, .period = region->period};
    if (at->loop != region->loop || at->period != region->period)
        return;
    efficiency_add_rank(&at->sum, rank,
                        fmin((double)region->useful_ns, TIME_MAX_NS),
                        fmin((double)region->waiting_ns, TIME_MAX_NS));
    if (number >= g->ended)
        g->ended = number + 1;
}

static void set_stride(struct gather *g, uint64_t stride)
{
    if (stride == g->stride)
        return;
    memcpy(g->kept, g->pending, sizeof g->kept);
    memset(g->pending, 0, sizeof g->pending);
    g->stride = stride;
    for (size_t i = 0; i < GATHER_PENDING; i++)
        if (g->kept[i].sum.ranks > 0 && g->kept[i].number % stride == 0
            && g->kept[i].number >= place_of(g, g->kept[i].number)->number)
            *place_of(g, g->kept[i].number) = g->kept[i];
}

/* So that those since the last message fit into one, and not too few are
 * told. */
static void choose_stride(struct gather *g)
{
    uint64_t n = g->ended - g->begun, stride = g->stride;

    while (n / stride >= RANKS_REGIONS && stride < UINT64_MAX / 2)
        stride *= 2;
    while (stride > 1 && n / stride < RANKS_REGIONS / FEW)
        stride /= 2;
    set_stride(g, stride);
    g->begun = g->ended;
}

uint32_t gather_take(struct gather *g,
                     uint32_t ranks,
                     struct msg_region region[RANKS_REGIONS])
{
    uint32_t n = 0;

    choose_stride(g);
    for (size_t i = 0; i < GATHER_PENDING && n < RANKS_REGIONS; i++)
        if (g->pending[i].sum.ranks == ranks) {
            region[n++] = g->pending[i];
            g->pending[i] = (struct msg_region){0};
        }
    return n;
}
