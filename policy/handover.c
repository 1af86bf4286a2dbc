/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/handover.h"

#include <math.h>

static int is_there(const struct handover_node *node)
{
    return node->units > 0 && isfinite(node->seconds) && node->seconds > 0;
}

/* n: there is none. */
static size_t last_of(const struct handover_node node[], size_t n)
{
    size_t last = n;

    for (size_t i = 0; i < n; i++)
        if (is_there(&node[i])
            && (last == n || node[i].seconds > node[last].seconds))
            last = i;
    return last;
}

/* The part of the last one's time for which the mean node waits.  One without
 * units does, too, but has nothing that could be limited. */
static double rest_of(const struct handover_node node[], size_t n, size_t last)
{
    double waits = 0, there = 0;

    for (size_t i = 0; i < n; i++)
        if (is_there(&node[i])) {
            waits += 1 - node[i].seconds / node[last].seconds;
            there++;
        }
    return there > 1 ? waits / there : 0;
}

static int is_cut_alike(uint64_t had[],
                        const struct handover_node node[],
                        size_t n)
{
    int alike = 1;

    for (size_t i = 0; i < n; i++) {
        alike &= had[i] == node[i].units;
        had[i] = node[i].units;
    }
    return alike;
}

static unsigned needed(const struct handover *h)
{
    return h->needed ? h->needed : HANDOVER_ALIKE;
}

void handover_back(struct handover *h)
{
    if (h->by_limits)
        h->needed =
            needed(h) * 2 < HANDOVER_MOST ? needed(h) * 2 : HANDOVER_MOST;
    h->by_limits = 0;
    h->alike = 0;
}

int handover_frame(struct handover *h,
                   uint64_t had[],
                   const struct handover_node node[],
                   size_t n)
{
    int is_alike = is_cut_alike(had, node, n);
    size_t last = last_of(node, n);
    double rest = last < n ? rest_of(node, n, last) : 0;

    if (h->by_limits && is_alike && rest <= h->rest + HANDOVER_CHANGE)
        return 1;
    if (h->by_limits || !is_alike || last != h->last)
        handover_back(h);
    h->last = last;
    h->alike = rest > HANDOVER_REST ? h->alike + 1 : 0;
    h->rest = rest;
    h->by_limits = h->alike >= needed(h);
    return h->by_limits;
}

double handover_speed(uint64_t limit, uint64_t start, double exponent)
{
    double e = exponent > 0 ? fmin(exponent, 1) : 0;

    if (limit == 0 || start == 0)
        return 1;
    return pow((double)limit / (double)start, e);
}
