/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/packing.h"
#include "pmix_bcast/chunk_recent.h"
#include "pmix_bcast/clock.h"

#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

#define ZSTD_LEVEL 3 /* its own default */
/* At least a sixteenth must be gained. */
#define PACKED_MAX(size) ((size) - (size) / 16)
/* Of all chunks one in so many is measured: files differ. */
#define MEASURE_EVERY 32u
#define NEW_WEIGHT    0.5 /* of the last measurement */
/* The wire's rate is that over so long and so much at least. */
#define WINDOW_S     0.02
#define WINDOW_BYTES (256u << 10)

struct packing {
    enum pack wish;
    uint32_t chunks, unmeasured; /* unmeasured: since the last that was */
    uint8_t *how; /* enum pack, of each chunk: how it came here */
    uint8_t *out; /* what packing_make() has made */
    struct chunk_recent recent;
    ZSTD_CCtx *maker;
    ZSTD_DCtx *opener;
    struct pack_cost cost[PACK_METHODS];
    struct { /* in which the wire is full */
        double start;
        uint64_t bytes;
    } window;
    double wire;           /* bytes a second; 0: not known */
    uint64_t bytes, saved; /* of what was to be sent */
};

struct packing *packing_create(enum pack wish, uint32_t chunks, uint32_t chunk)
{
    struct packing *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->wish = wish;
    p->chunks = chunks;
    p->unmeasured = MEASURE_EVERY;
    p->how = calloc(chunks, 1);
    p->out = malloc(chunk);
    chunk_recent_init(&p->recent, chunk);
    p->maker = ZSTD_createCCtx();
    p->opener = ZSTD_createDCtx();
    if (p->how && p->out && p->maker && p->opener)
        return p;
    packing_destroy(p);
    return NULL;
}

void packing_destroy(struct packing *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->maker);
    ZSTD_freeDCtx(p->opener);
    chunk_recent_clear(&p->recent);
    free(p->how);
    free(p->out);
    free(p);
}

/* --- make ----------------------------------------------------------------- */

/* How many bytes p->out has then; 0: it does not get smaller. */
static uint32_t compress(struct packing *p,
                         enum pack how,
                         const uint8_t *bytes,
                         uint32_t size)
{
    uint32_t room = PACKED_MAX(size);
    size_t n;
    int fast;

    if (how == PACK_LZ4) {
        fast = LZ4_compress_default((const char *)bytes, (char *)p->out,
                                    (int)size, (int)room);
        return fast > 0 ? (uint32_t)fast : 0;
    }
    n = ZSTD_compressCCtx(p->maker, p->out, room, bytes, size, ZSTD_LEVEL);
    return ZSTD_isError(n) ? 0 : (uint32_t)n;
}

static void learn(double *value, double measured)
{
    *value += (*value > 0 ? NEW_WEIGHT : 1) * (measured - *value);
}

/* The same, and what it has cost is learnt. */
static uint32_t compress_timed(struct packing *p,
                               enum pack how,
                               const uint8_t *bytes,
                               uint32_t size)
{
    double start = clock_s();
    uint32_t n = compress(p, how, bytes, size);

    learn(&p->cost[how].seconds, (clock_s() - start) / size);
    learn(&p->cost[how].left, n > 0 ? (double)n / size : 1);
    return n;
}

/* A chunk that this node got goes on as it came. */
static enum pack how_to_send(const struct packing *p, uint32_t chunk)
{
    if (p->wish == PACK_NONE)
        return (enum pack)p->how[chunk];
    return p->wish == PACK_AUTO ? pack_choose(p->cost, p->wire) : p->wish;
}

static int is_to_be_measured(const struct packing *p)
{
    return p->wish == PACK_AUTO && p->unmeasured >= MEASURE_EVERY;
}

int packing_wants(struct packing *p, uint32_t chunk, uint32_t size)
{
    p->bytes += size;
    p->unmeasured++;
    return chunk < p->chunks
           && (is_to_be_measured(p) || how_to_send(p, chunk) != PACK_NONE);
}

struct packed packing_make(struct packing *p,
                           uint32_t chunk,
                           const uint8_t *bytes,
                           uint32_t size)
{
    struct packed made = {PACK_NONE, NULL, 0};
    enum pack how;

    if (is_to_be_measured(p)) {
        for (how = PACK_LZ4; how < PACK_METHODS; how++)
            (void)compress_timed(p, how, bytes, size);
        p->unmeasured = 0;
    }
    how = how_to_send(p, chunk);
    if (how != PACK_NONE)
        made.size = compress_timed(p, how, bytes, size);
    if (made.size > 0) {
        made.how = how;
        made.bytes = p->out;
    }
    if (made.size > 0)
        p->saved += size - made.size;
    return made;
}

/* --- take ----------------------------------------------------------------- */

static int decompress(struct packing *p,
                      const struct packed *packed,
                      uint8_t *bytes,
                      uint32_t size)
{
    int n;

    if (packed->how == PACK_LZ4) {
        n = LZ4_decompress_safe((const char *)packed->bytes, (char *)bytes,
                                (int)packed->size, (int)size);
        return n >= 0 && (uint32_t)n == size ? 0 : -1;
    }
    return ZSTD_decompressDCtx(p->opener, bytes, size, packed->bytes,
                               packed->size)
                   == size
               ? 0
               : -1;
}

int packing_open(struct packing *p,
                 uint32_t chunk,
                 const struct packed *packed,
                 uint8_t *bytes,
                 uint32_t size)
{
    if (chunk >= p->chunks || decompress(p, packed, bytes, size) < 0)
        return -1;
    p->how[chunk] = (uint8_t)packed->how;
    chunk_recent_put(&p->recent, chunk, packed->bytes, packed->size);
    return 0;
}

struct packed packing_known(const struct packing *p, uint32_t chunk)
{
    struct packed known = {PACK_NONE, NULL, 0};
    size_t size = 0;

    known.bytes = chunk_recent_get(&p->recent, chunk, &size);
    if (known.bytes) {
        known.how = (enum pack)p->how[chunk];
        known.size = (uint32_t)size;
    }
    return known;
}

/* --- the rest ------------------------------------------------------------- */

/* A wire that waits for us says nothing about its rate. */
void packing_went(struct packing *p, uint64_t bytes, int is_full, double now)
{
    double passed = now - p->window.start;
    uint64_t came = bytes - p->window.bytes;

    if (is_full && (passed < WINDOW_S || came < WINDOW_BYTES))
        return;
    if (is_full && p->window.start > 0)
        learn(&p->wire, (double)came / passed);
    p->window.start = now;
    p->window.bytes = bytes;
}

double packing_left(const struct packing *p)
{
    return p->bytes > 0 ? 1 - (double)p->saved / (double)p->bytes : 1;
}
