/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/pack_choice.h"

#include <string.h>

/* What is measured is noisy: so much must be gained at least. */
#define WORTH 0.95

static const char *const names[] = {
    [PACK_NONE] = "none",
    [PACK_LZ4] = "lz4",
    [PACK_ZSTD] = "zstd",
    [PACK_AUTO] = "auto",
};

enum pack pack_choose(const struct pack_cost cost[PACK_METHODS], double wire)
{
    enum pack best = PACK_NONE;
    double least;

    if (!(wire > 0))
        return PACK_NONE;
    least = WORTH / wire;
    for (enum pack p = PACK_LZ4; p < PACK_METHODS; p++) {
        double all = cost[p].seconds + cost[p].left / wire;

        if (cost[p].seconds > 0 && all < least) {
            least = all;
            best = p;
        }
    }
    return best;
}

const char *pack_name(enum pack pack)
{
    return names[pack];
}

int pack_find(const char *name)
{
    for (int i = 0; i <= PACK_AUTO; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}
