/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/unit_pool.h"

#include <stdlib.h>
#include <string.h>

void unit_pool_clear(struct unit_pool *p)
{
    free(p->batch);
    memset(p, 0, sizeof *p);
}

void unit_pool_empty(struct unit_pool *p)
{
    p->n = 0;
    p->units = 0;
}

int unit_pool_reserve(struct unit_pool *p, size_t n)
{
    size_t cap = p->cap * 2 + 16;
    struct batch *more;

    if (n <= p->cap)
        return 0;
    if (cap < n)
        cap = n;
    if (cap > SIZE_MAX / sizeof *more)
        return -1;
    more = realloc(p->batch, cap * sizeof *more);
    if (!more)
        return -1;
    p->batch = more;
    p->cap = cap;
    return 0;
}

int unit_pool_add(struct unit_pool *p, const struct batch *b)
{
    size_t at = p->n;

    if (b->units.begin == b->units.end)
        return 0;
    if (unit_pool_reserve(p, p->n + 1) < 0)
        return -1;
    while (at > 0 && p->batch[at - 1].units.begin > b->units.begin)
        at--;
    memmove(p->batch + at + 1, p->batch + at, (p->n - at) * sizeof *p->batch);
    p->batch[at] = *b;
    p->n++;
    p->units += b->units.end - b->units.begin;
    return 0;
}

struct batch unit_pool_take(struct unit_pool *p, size_t i, uint64_t units)
{
    struct batch *from = &p->batch[i], taken = *from;

    if (units < taken.units.end - taken.units.begin)
        taken.units.end = taken.units.begin + units;
    from->units.begin = taken.units.end;
    p->units -= taken.units.end - taken.units.begin;
    if (from->units.begin == from->units.end) {
        p->n--;
        memmove(from, from + 1, (p->n - i) * sizeof *from);
    }
    return taken;
}
