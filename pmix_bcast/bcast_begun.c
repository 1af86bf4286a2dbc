/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_begun.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct bcast_begun *b)
{
    tree_copy_destroy(b->tree);
    destination_close(&b->file);
}

static int grow(struct bcast_begun_list *l)
{
    size_t cap = l->cap > 0 ? 2 * l->cap : 4;
    struct bcast_begun *one;
    struct room_need *need;

    if (l->n < l->cap)
        return 0;
    one = realloc(l->one, cap * sizeof *one);
    if (!one)
        return -1;
    l->one = one;
    need = realloc(l->need, cap * sizeof *need);
    if (!need)
        return -1;
    l->need = need;
    l->cap = cap;
    return 0;
}

void bcast_begun_put(struct bcast_begun_list *l,
                     struct bcast_begun *b,
                     const struct room_need *need)
{
    if (grow(l) < 0) {
        forget(b);
        return;
    }
    l->one[l->n] = *b;
    l->need[l->n++] = *need;
}

int bcast_begun_take(struct bcast_begun_list *l,
                     uint32_t id,
                     struct bcast_begun *b)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->one[i].id == id) {
            *b = l->one[i];
            l->one[i] = l->one[--l->n];
            l->need[i] = l->need[l->n];
            return 0;
        }
    return -1;
}

void bcast_begun_clear(struct bcast_begun_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        forget(&l->one[i]);
    free(l->one);
    free(l->need);
    memset(l, 0, sizeof *l);
}
