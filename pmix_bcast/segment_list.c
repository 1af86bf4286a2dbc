/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/segment_list.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>

static int compare_content(const struct tree_segment *a,
                           const struct tree_segment *b)
{
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return memcmp(a->digest, b->digest, sizeof a->digest);
}

void segment_list_add(struct segment_list *l,
                      const struct tree_segment *s,
                      uint32_t file)
{
    struct segment_place *place;
    size_t n = 1;

    if (l->n > 0 && l->place[l->n - 1].file == file
        && compare_content(&l->place[l->n - 1].segment, s) == 0)
        return; /* zeros, as a rule, which may go on for long */
    if (l->only)
        (void)segment_list_find(l->only, s, &n);
    place = n > 0 ? array_grow(l->place, &l->room, l->n + 1, sizeof *place,
                               TREE_SEGMENTS_MAX)
                  : NULL;
    if (!place)
        return;
    l->place = place;
    place[l->n++] = (struct segment_place){*s, file};
}

static int compare(const void *a, const void *b)
{
    return compare_content(&((const struct segment_place *)a)->segment,
                           &((const struct segment_place *)b)->segment);
}

void segment_list_sort(struct segment_list *l)
{
    if (l->n > 1)
        qsort(l->place, l->n, sizeof *l->place, compare);
}

/* How many are before it; with itself: or equal. */
static size_t count(const struct segment_list *l,
                    const struct tree_segment *s,
                    int itself)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_content(&l->place[middle].segment, s);

        if (order < 0 || (order == 0 && itself))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct segment_place *segment_list_find(const struct segment_list *l,
                                              const struct tree_segment *s,
                                              size_t *n)
{
    size_t first = count(l, s, 0);

    *n = count(l, s, 1) - first;
    return *n > 0 ? l->place + first : NULL;
}

void segment_list_clear(struct segment_list *l)
{
    free(l->place);
    *l = (struct segment_list){.n = 0};
}
