/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/rank_bins.h"

#include <math.h>

static void add(struct rank_part *to, const struct rank_part *did, double part)
{
    to->useful += part * did->useful;
    to->waiting += part * did->waiting;
    to->io += part * did->io;
    to->no_cpu += part * did->no_cpu;
}

static void halve(struct rank_bins *b)
{
    for (uint32_t i = 0; i < RANK_BINS; i++) {
        struct rank_part both = b->bin[i];

        b->bin[i] = (struct rank_part){0};
        add(&b->bin[i / 2], &both, 1);
    }
    b->bin_ns *= 2;
    b->n = (b->n + 1) / 2;
}

void rank_bins_add(struct rank_bins *b,
                   double from,
                   double to,
                   struct rank_part did)
{
    if (b->bin_ns <= 0)
        b->bin_ns = RANK_BIN_NS;
    if (!(from >= 0) || !(to > from) || to > 1e18)
        return;
    while (to > RANK_BINS * b->bin_ns)
        halve(b);
    for (uint32_t i = (uint32_t)(from / b->bin_ns);
         i < RANK_BINS && i * b->bin_ns < to; i++) {
        double begin = fmax(from, i * b->bin_ns);
        double end = fmin(to, (i + 1) * b->bin_ns);

        add(&b->bin[i], &did, (end - begin) / (to - from));
        if (b->n < i + 1)
            b->n = i + 1;
    }
}

static uint8_t part(double ns, double bin_ns)
{
    return (uint8_t)fmin(fmax(ns / bin_ns * 255 + 0.5, 0), 255);
}

void rank_bins_fill(const struct rank_bins *b, struct msg_rank_detail *m)
{
    m->bin_ns = b->bin_ns;
    m->bins = b->n;
    for (uint32_t i = 0; i < b->n; i++)
        m->bin[i] = (struct msg_rank_bin){part(b->bin[i].useful, b->bin_ns),
                                          part(b->bin[i].waiting, b->bin_ns),
                                          part(b->bin[i].io, b->bin_ns),
                                          part(b->bin[i].no_cpu, b->bin_ns)};
}
