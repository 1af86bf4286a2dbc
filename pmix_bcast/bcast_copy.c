/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERIFY_TURN 64u /* chunks read back at once, before others' turn */

int bcast_copy_init(struct bcast_copy *c,
                    const struct bcast_order *order,
                    const struct secret *secret)
{
    const struct plan *p = &order->plan;

    *c = (struct bcast_copy){.order = order, .file = DESTINATION_CLOSED};
    c->offset = calloc(p->chunks + 1u, sizeof *c->offset);
    c->tag = calloc(p->chunks + 1u, sizeof *c->tag);
    c->seal = chunk_tag_seal(secret, order->id);
    if (!c->offset || !c->tag || !c->seal)
        return ENOMEM;
    plan_offsets(p, c->offset);
    return 0;
}

void bcast_copy_clear(struct bcast_copy *c)
{
    destination_close(&c->file);
    free(c->offset);
    free(c->tag);
    seal_destroy(c->seal);
}

int bcast_copy_open(struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;
    int why = destination_open(&c->file, o->destination, o->plan.bytes,
                               (o->flags & ORDER_FORCE) != 0);

    if (!why && o->flags & ORDER_SYNC)
        destination_keep(&c->file);
    return why;
}

size_t bcast_copy_size(const struct bcast_copy *c, uint32_t chunk)
{
    return (size_t)(c->offset[chunk + 1] - c->offset[chunk]);
}

int bcast_copy_put(struct bcast_copy *c,
                   uint32_t chunk,
                   const uint8_t *bytes,
                   const uint8_t tag[TAG_BYTES])
{
    size_t size = bcast_copy_size(c, chunk);
    int why;

    if (seal_check(c->seal, chunk, bytes, size, tag) < 0)
        return errno;
    why = destination_write(&c->file, bytes, size, c->offset[chunk]);
    if (!why)
        memcpy(c->tag[chunk].bytes, tag, TAG_BYTES);
    return why;
}

int bcast_copy_put_all(const struct bcast_copy *c, const uint8_t *bytes)
{
    size_t len = (size_t)c->order->plan.bytes;

    return len > 0 ? destination_write(&c->file, bytes, len, 0) : 0;
}

uint64_t bcast_copy_sum(const struct bcast_copy *c)
{
    return chunk_tag_sum(c->tag, c->order->plan.chunks);
}

static int verify_chunk(struct bcast_copy *c, uint32_t chunk, uint8_t *bytes)
{
    size_t size = bcast_copy_size(c, chunk);
    ssize_t n = pread(c->file.fd, bytes, size, (off_t)c->offset[chunk]);

    if (n < 0)
        return errno;
    if ((size_t)n < size)
        return EBADMSG;
    return seal_check(c->seal, chunk, bytes, size, c->tag[chunk].bytes) < 0
               ? errno
               : 0;
}

int bcast_copy_verify(struct bcast_copy *c)
{
    uint8_t *bytes = malloc(c->order->plan.chunk);
    uint32_t end = c->verified + VERIFY_TURN;
    int why = bytes ? 0 : ENOMEM;

    if (end > c->order->plan.chunks)
        end = c->order->plan.chunks;
    while (!why && c->verified < end) {
        why = verify_chunk(c, c->verified, bytes);
        c->verified += why == 0;
    }
    free(bytes);
    return why;
}

int bcast_copy_finish(struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;

    return destination_finish(&c->file, o->mode,
                              o->flags & ORDER_TIMES ? &o->mtime_ns : NULL);
}

void bcast_copy_abandon(struct bcast_copy *c)
{
    destination_close(&c->file);
}
