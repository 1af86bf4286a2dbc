/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_bins.h - how a rank's time went over time: at most RANK_BINS equal parts
 * of it, which become twice as long when they are full.
 */
#ifndef LAUNCHER_AGENT_RANK_BINS_H
#define LAUNCHER_AGENT_RANK_BINS_H

#include "launcher/wire/protocol.h"

#define RANK_BIN_NS 250e6 /* to begin with */

struct rank_part {
    double useful, waiting, io, no_cpu; /* ns */
};

struct rank_bins { /* all zero: nothing yet */
    double bin_ns;
    uint32_t n;
    struct rank_part bin[RANK_BINS];
};

/* Between these two moments, ns since the beginning, it did that. */
void rank_bins_add(struct rank_bins *b,
                   double from,
                   double to,
                   struct rank_part did);
void rank_bins_fill(const struct rank_bins *b, struct msg_rank_detail *m);

#endif
