/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/iterations.h"

#include <math.h>

#define FADES  0.98 /* the longest, with every look at which regions end */
#define MISSES 1.5  /* times as long as between two looks: there was one */

/* Regions that ended since the last look, if more than one: after a long time
 * without an end, all but the first were much shorter.  Who is told only of what
 * has changed was told nothing by the looks between, until the last one. */
static uint64_t that_matter(const struct iterations *it,
                            uint64_t ended,
                            int64_t now,
                            int64_t every_ns)
{
    double gap = (double)(now - it->looked_ns);
    double idle;

    if (every_ns > 0 && gap > MISSES * (double)every_ns)
        gap = (double)every_ns;
    idle = (double)(now - it->end_ns) - gap;
    return ended > 1 && gap / (double)(ended - 1) < idle / 2 ? 1 : ended;
}

static void count(struct iterations *it,
                  uint64_t ended,
                  int64_t now,
                  int64_t every_ns)
{
    double took = (double)(now - it->end_ns), each;

    ended = that_matter(it, ended, now, every_ns);
    each = took / (double)ended;
    it->longest_ns = fmax(each, it->longest_ns * FADES);
    if (each >= it->longest_ns / 4)
        it->n += ended;
    else if (took >= it->longest_ns / 2)
        it->n++;
    else
        return; /* the time is that of the next one */
    it->end_ns = now;
}

void iterations_add(struct iterations *it,
                    uint64_t regions,
                    int64_t now,
                    int64_t every_ns)
{
    uint64_t ended = regions - it->regions;

    if (regions < it->regions)
        *it = (struct iterations){.n = 0};
    else if (ended > 0 && it->end_ns == 0)
        it->end_ns = now;
    else if (ended > 0)
        count(it, ended, now, every_ns);
    it->regions = regions;
    it->looked_ns = now;
}
