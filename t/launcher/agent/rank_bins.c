/* SPDX-License-Identifier: BSD-2-Clause */
/* How a rank's time went over time. */
#include "launcher/agent/rank_bins.h"
#include "tap.h"

static struct msg_rank_detail m;

int main(void)
{
    struct rank_bins b = {0};

    rank_bins_fill(&b, &m);
    is_int((int)m.bins, 0, "nothing yet");
    rank_bins_add(&b, 0, 250e6, (struct rank_part){200e6, 50e6, 0, 100e6});
    rank_bins_fill(&b, &m);
    ok(m.bins == 1 && m.bin_ns == RANK_BIN_NS && m.bin[0].useful == 204
           && m.bin[0].waiting == 51 && m.bin[0].no_cpu == 102,
       "the first part");
    rank_bins_add(&b, 250e6, 750e6, (struct rank_part){0, 500e6, 125e6, 0});
    rank_bins_fill(&b, &m);
    ok(m.bins == 3 && m.bin[1].waiting == 255 && m.bin[2].io == 64,
       "a look that was late is divided");
    rank_bins_add(&b, 12.5e9, 12.75e9, (struct rank_part){250e6, 0, 0, 0});
    rank_bins_fill(&b, &m);
    ok(m.bin_ns == 2 * RANK_BIN_NS && m.bins == 26 && m.bin[0].useful == 102
           && m.bin[0].waiting == 153 && m.bin[25].useful == 128,
       "when all are full they become twice as long");
    rank_bins_add(&b, 13e9, 12e9, (struct rank_part){1, 1, 1, 1});
    rank_bins_add(&b, (double)NAN, 14e9, (struct rank_part){1, 1, 1, 1});
    rank_bins_add(&b, 13e9, 1e30, (struct rank_part){1, 1, 1, 1});
    ok(b.n == 26, "times that are none are left out");
    return done();
}
