/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/segment_list.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int segment_list_add(struct segment_list *l,
                     const struct tree_segment *s,
                     uint32_t file)
{
    struct segment_place *place = array_grow(l->place, &l->room, l->n + 1,
                                             sizeof *place, TREE_SEGMENTS_MAX);

    if (!place)
        return ENOMEM;
    l->place = place;
    place[l->n++] = (struct segment_place){*s, file};
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct tree_segment *x = &((const struct segment_place *)a)->segment,
                              *y = &((const struct segment_place *)b)->segment;

    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return memcmp(x->digest, y->digest, sizeof x->digest);
}

void segment_list_sort(struct segment_list *l)
{
    if (l->n > 1)
        qsort(l->place, l->n, sizeof *l->place, compare);
}

const struct segment_place *segment_list_find(const struct segment_list *l,
                                              const struct tree_segment *s)
{
    const struct segment_place key = {.segment = *s};

    return l->n > 0 ? bsearch(&key, l->place, l->n, sizeof key, compare) : NULL;
}

void segment_list_clear(struct segment_list *l)
{
    free(l->place);
    *l = (struct segment_list){.n = 0};
}
