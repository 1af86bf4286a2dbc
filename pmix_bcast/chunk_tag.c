/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/chunk_tag.h"

#include <sodium.h>
#include <xxhash.h>

struct seal *chunk_tag_seal(const struct secret *s, uint32_t broadcast)
{
    uint8_t key[KEY_BYTES];
    struct seal *seal;

    secret_chunk_key(s, broadcast, key);
    seal = seal_create(key, 0);
    sodium_memzero(key, sizeof key);
    return seal;
}

uint64_t chunk_tag_sum(const struct chunk_tag *tag, uint32_t n)
{
    return XXH3_64bits(tag, n * sizeof *tag);
}
