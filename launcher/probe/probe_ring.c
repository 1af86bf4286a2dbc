/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_ring.h"

#include <math.h>

unsigned ring_rounds(uint32_t n)
{
    if (n < 2)
        return 0;
    return n - 1 < RING_ROUNDS_MOST ? n - 1 : RING_ROUNDS_MOST;
}

/* The distances begin with 1, a neighbour that is likely in the same rack, and
 * are spread over the ring, so they all differ. */
static uint32_t distance(uint32_t n, unsigned round)
{
    return 1 + (uint32_t)((uint64_t)(n - 1) * round / ring_rounds(n));
}

uint32_t ring_receiver(uint32_t n, uint32_t node, unsigned round)
{
    return (uint32_t)(((uint64_t)node + distance(n, round)) % n);
}

uint32_t ring_sender(uint32_t n, uint32_t node, unsigned round)
{
    return (uint32_t)(((uint64_t)node + n - distance(n, round)) % n);
}

struct range {
    double best, worst; /* 0: none */
};

static void widen(struct range *r, double rate)
{
    if (!isfinite(rate) || !(rate > 0))
        return;
    if (!(r->best > 0) || rate > r->best)
        r->best = rate;
    if (!(r->worst > 0) || rate < r->worst)
        r->worst = rate;
}

int ring_value(const struct ring_round round[],
               unsigned rounds,
               double *bytes_per_s,
               double *spread)
{
    struct range out = {0, 0}, in = {0, 0}, limit;

    for (unsigned i = 0; i < rounds; i++) {
        widen(&out, round[i].sent_per_s);
        widen(&in, round[i].received_per_s);
    }
    if (!(out.best > 0) || !(in.best > 0))
        return -1;
    limit = out.best < in.best ? out : in;
    *bytes_per_s = limit.best;
    *spread = 1 - limit.worst / limit.best;
    return 0;
}
