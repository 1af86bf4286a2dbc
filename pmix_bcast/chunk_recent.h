/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunk_recent.h - the bytes of the chunks that came last, for those to whom
 * they go: of a tree of files a chunk may be in many, and opening them again
 * for each of seven others costs more than to write them.
 */
#ifndef PMIX_BCAST_CHUNK_RECENT_H
#define PMIX_BCAST_CHUNK_RECENT_H

#include <stddef.h>
#include <stdint.h>

#define CHUNK_RECENT 64u /* chunks, as far as they are 16 MiB at most */

struct chunk_recent { /* all zero: holds nothing, and remembers nothing */
    uint8_t *bytes;   /* owned */
    size_t each, n;   /* n chunks of so many bytes */
    uint32_t chunk[CHUNK_RECENT];
    size_t size[CHUNK_RECENT];
    size_t used, next;
};

/* Chunks have at most so many bytes.  Without memory nothing is remembered. */
void chunk_recent_init(struct chunk_recent *r, size_t each);
void chunk_recent_put(struct chunk_recent *r,
                      uint32_t chunk,
                      const uint8_t *bytes,
                      size_t size);
/* NULL: it is not known (any more).  size: how many bytes it has. */
const uint8_t *chunk_recent_get(const struct chunk_recent *r,
                                uint32_t chunk,
                                size_t *size);
void chunk_recent_clear(struct chunk_recent *r);

#endif
