/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that travel compressed; neither end's owner sees that. */
#include "pmix_bcast/link_state.h"

#include <errno.h>
#include <string.h>

#define LINK_PACKED (LINK_LZ4 | LINK_ZSTD)

static const uint32_t flag_of[PACK_METHODS] = {
    [PACK_LZ4] = LINK_LZ4,
    [PACK_ZSTD] = LINK_ZSTD,
};

int link_pack(struct link *l)
{
    struct link_head *h = &l->sending;
    struct packed packed;

    if (!l->packing || h->type != LINK_CHUNK || h->size == 0
        || !packing_wants(l->packing, h->chunk, h->size))
        return 0;
    packed = packing_known(l->packing, h->chunk);
    if (link_room(l) < 0 || (packed.how == PACK_NONE && link_read(l) < 0))
        return -1;
    if (packed.how == PACK_NONE)
        packed = packing_make(l->packing, h->chunk, l->loaded, h->size);
    if (packed.how == PACK_NONE)
        return 0;
    memcpy(l->loaded, packed.bytes, packed.size);
    l->is_loaded = 1;
    h->flags |= flag_of[packed.how];
    h->bytes = h->size;
    h->size = packed.size;
    return 0;
}

/* Whatever it says, it was announced as that. */
static int is_well_packed(const struct link *l)
{
    const struct link_head *h = &l->head;

    return l->packing && (h->flags & LINK_PACKED) != LINK_PACKED
           && h->bytes > h->size && h->bytes <= l->chunk_max;
}

int link_unpack(struct link *l)
{
    struct link_head *h = &l->head;
    struct packed packed = {h->flags & LINK_LZ4 ? PACK_LZ4 : PACK_ZSTD, l->sink,
                            h->size};

    if (!is_well_packed(l))
        return -1;
    h->size = (uint32_t)h->bytes;
    h->bytes = 0;
    h->flags &= ~LINK_PACKED;
    l->place = l->on->place ? l->on->place(l, l->arg, h) : NULL;
    if (l->stage == OPEN)
        link_ready(l);
    if (l->stage != OPEN || !l->place)
        return 0;
    return packing_open(l->packing, h->chunk, &packed, l->place, h->size);
}
