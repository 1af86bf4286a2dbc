/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/kept.h"

#include <stdlib.h>
#include <string.h>

static int by_units(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->units.begin != y->units.begin)
        return x->units.begin < y->units.begin ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int by_worth(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;

    return x->is_gone != y->is_gone ? (x->is_gone > y->is_gone) * 2 - 1
                                    : by_units(a, b);
}

static int last_first(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;

    return (x->line < y->line) - (x->line > y->line);
}

static int may_be_twice(const struct kept *k)
{
    return k->failed || k->has_text;
}

/* Do slices of a frame, in the order of their units, overlap?  -1 if those do
 * that may not. */
static int overlap(const struct kept *k, size_t n)
{
    const struct kept *last = k; /* that ends last of those so far */
    int found = 0;

    for (size_t i = 1; i < n; i++) {
        if (k[i].units.begin < last->units.end) {
            if (!may_be_twice(&k[i]) && !may_be_twice(last))
                return -1;
            found = 1;
        }
        if (k[i].units.end > last->units.end)
            last = &k[i];
    }
    return found;
}

/* Where in chosen, n slices apart and in order, one more fits in; n + 1 if it
 * overlaps one of them. */
static size_t place_of(const struct kept *chosen,
                       size_t n,
                       const struct kept *k)
{
    size_t low = 0, high = n;

    while (low < high) { /* the first that ends behind its begin */
        size_t middle = low + (high - low) / 2;

        if (chosen[middle].units.end <= k->units.begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && chosen[low].units.begin < k->units.end ? n + 1 : low;
}

/* Of slices of a frame that overlap: the last one counts, then the last but one
 * if it is apart from that, and so on.  chosen has room for all. */
static void choose(struct kept *k, size_t n, struct kept *chosen)
{
    size_t there = 0;

    qsort(k, n, sizeof *k, last_first);
    for (size_t i = 0; i < n; i++) {
        size_t at = place_of(chosen, there, &k[i]);

        k[i].is_gone = at > there;
        if (at > there)
            continue;
        memmove(chosen + at + 1, chosen + at, (there - at) * sizeof *chosen);
        chosen[at] = k[i];
        there++;
    }
}

/* One frame's, n of them. */
static enum kept_settled settle_frame(struct kept *k, size_t n)
{
    int found = overlap(k, n);
    struct kept *chosen;

    if (found < 0)
        return KEPT_TWICE;
    if (!found)
        return KEPT_SETTLED;
    chosen = calloc(n, sizeof *chosen);
    if (!chosen)
        return KEPT_NO_MEMORY;
    choose(k, n, chosen);
    free(chosen);
    return KEPT_SETTLED;
}

size_t kept_part(struct kept kept[], size_t n)
{
    size_t count = 0;

    if (n > 0)
        qsort(kept, n, sizeof *kept, by_worth);
    while (count < n && !kept[count].is_gone)
        count++;
    return count;
}

enum kept_settled kept_settle(struct kept kept[], size_t *n)
{
    enum kept_settled rc = KEPT_SETTLED;
    size_t count = kept_part(kept, *n), end;

    for (size_t i = 0; i < count && rc == KEPT_SETTLED; i = end) {
        for (end = i; end < count && kept[end].frame == kept[i].frame; end++)
            ;
        rc = settle_frame(kept + i, end - i);
    }
    if (rc == KEPT_SETTLED)
        *n = kept_part(kept, *n);
    return rc;
}
