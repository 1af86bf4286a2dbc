/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/chunk_recent.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (16u << 20)

void chunk_recent_init(struct chunk_recent *r, size_t each)
{
    *r = (struct chunk_recent){.each = each};
    r->n = each > 0 ? BYTES_MAX / each : 0;
    if (r->n > CHUNK_RECENT)
        r->n = CHUNK_RECENT;
    r->bytes = r->n > 0 ? malloc(r->n * each) : NULL;
    if (!r->bytes)
        r->n = 0;
}

void chunk_recent_put(struct chunk_recent *r,
                      uint32_t chunk,
                      const uint8_t *bytes,
                      size_t size)
{
    if (r->n == 0 || size > r->each)
        return;
    memcpy(r->bytes + r->next * r->each, bytes, size);
    r->chunk[r->next] = chunk;
    r->size[r->next] = size;
    r->next = (r->next + 1) % r->n;
    if (r->used < r->n)
        r->used++;
}

const uint8_t *chunk_recent_get(const struct chunk_recent *r,
                                uint32_t chunk,
                                size_t *size)
{
    for (size_t i = 0; i < r->used; i++)
        if (r->chunk[i] == chunk) {
            *size = r->size[i];
            return r->bytes + i * r->each;
        }
    return NULL;
}

void chunk_recent_clear(struct chunk_recent *r)
{
    free(r->bytes);
    *r = (struct chunk_recent){.n = 0};
}
