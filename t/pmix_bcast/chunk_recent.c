/* SPDX-License-Identifier: BSD-2-Clause */
/* The chunks that came last are remembered, and no others. */
#include "pmix_bcast/chunk_recent.h"
#include "fault.h"
#include "tap.h"

#define EACH 100u

static uint8_t bytes[EACH];

static void put(struct chunk_recent *r, uint32_t chunk, size_t size)
{
    memset(bytes, (int)(chunk % 251), sizeof bytes);
    chunk_recent_put(r, chunk, bytes, size);
}

static size_t size; /* of what was found last */

static const uint8_t *get(const struct chunk_recent *r, uint32_t chunk)
{
    size = 0;
    return chunk_recent_get(r, chunk, &size);
}

static int has(const struct chunk_recent *r, uint32_t chunk)
{
    const uint8_t *got = get(r, chunk);

    return got && got[0] == chunk % 251 && got[9] == chunk % 251;
}

int main(void)
{
    struct chunk_recent r = {0};
    int all = 1;

    ok(!get(&r, 0), "all zero it knows nothing");
    put(&r, 0, 10);
    ok(!get(&r, 0), "and remembers nothing");
    chunk_recent_init(&r, EACH);
    ok(!get(&r, 0), "nor does it know one before it came");
    for (uint32_t i = 0; i < 1000; i++) {
        put(&r, i, 10);
        for (uint32_t j = i < CHUNK_RECENT ? 0 : i - CHUNK_RECENT + 1; j <= i;
             j++)
            all &= has(&r, j);
    }
    ok(all, "the last ones are known");
    ok(!get(&r, 1000 - CHUNK_RECENT - 1), "those before are not");
    put(&r, 5000, EACH + 1);
    ok(!get(&r, 5000) && has(&r, 999), "too large is not kept");
    put(&r, 5001, EACH);
    ok(has(&r, 5001) && size == EACH, "as large as may be is");
    ok(has(&r, 999) && size == 10, "each with its size");
    chunk_recent_clear(&r);
    chunk_recent_init(&r, 4u << 20);
    is_int((intmax_t)r.n, 4, "large ones are fewer: 16 MiB at most");
    chunk_recent_clear(&r);
    fault_at = 0;
    chunk_recent_init(&r, EACH);
    fault_at = -1;
    put(&r, 1, 10);
    ok(!get(&r, 1), "without memory nothing is remembered");
    chunk_recent_clear(&r);
    return done();
}
