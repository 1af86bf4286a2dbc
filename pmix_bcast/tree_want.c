/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_want.h"

#include <errno.h>
#include <stdlib.h>

size_t tree_want_bytes(uint32_t n)
{
    return ((size_t)n + 7) / 8;
}

int tree_want_init(struct tree_want *w, uint32_t n)
{
    *w = (struct tree_want){calloc(tree_want_bytes(n) + 1, 1), n};
    return w->bits ? 0 : ENOMEM;
}

void tree_want_add(struct tree_want *w, uint32_t segment)
{
    w->bits[segment / 8] |= (uint8_t)(1u << segment % 8);
}

int tree_want_has(const struct tree_want *w, uint32_t segment)
{
    return !w->bits
           || (segment < w->n && w->bits[segment / 8] >> segment % 8 & 1);
}

int tree_want_unite(struct tree_want *w, const uint8_t *bits, size_t len)
{
    if (!w->bits || len != tree_want_bytes(w->n)
        || (w->n % 8 != 0 && bits[len - 1] >> w->n % 8 != 0))
        return -1;
    for (size_t i = 0; i < len; i++)
        w->bits[i] |= bits[i];
    return 0;
}

void tree_want_clear(struct tree_want *w)
{
    free(w->bits);
    *w = (struct tree_want){.n = 0};
}
