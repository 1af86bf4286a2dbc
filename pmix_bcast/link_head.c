/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a message on a link; link.h has its fields. */
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/fabric_message.h"
#include "pmix_bcast/link.h"

#include <string.h>

static int has_bytes(uint16_t type)
{
    return type == LINK_CHUNK || type == LINK_FABRIC;
}

int link_head_is_packed(const struct link_head *h)
{
    return h->type == LINK_CHUNK && (h->flags & (LINK_LZ4 | LINK_ZSTD)) != 0;
}

uint32_t link_head_tail(const struct link_head *h, uint32_t tail)
{
    return link_head_is_packed(h) ? TAG_BYTES : tail;
}

int link_head_decode(struct link_head *h,
                     const uint8_t buf[LINK_HEAD],
                     uint32_t size_max,
                     uint32_t tail)
{
    struct message_head m;

    memset(h, 0, sizeof *h);
    if (message_decode(&m, buf, LINK_HEAD, UINT32_MAX) != 1
        || m.type < LINK_HELLO || m.type > LINK_HAVE
        || m.length < LINK_HEAD - MESSAGE_HEAD)
        return -1;
    h->type = m.type;
    h->broadcast = get_u32(buf + 12);
    h->chunk = get_u32(buf + 16);
    h->flags = get_u32(buf + 20);
    h->bytes = (uint64_t)get_u32(buf + 24) << 32 | get_u32(buf + 28);
    memcpy(h->digest, buf + 32, sizeof h->digest);
    h->size = m.length - (LINK_HEAD - MESSAGE_HEAD);
    if (h->type == LINK_FABRIC)
        size_max = FABRIC_BODY_MAX;
    if (!has_bytes(h->type) && h->size == 0)
        return 0;
    tail = link_head_tail(h, tail);
    if (has_bytes(h->type) && h->size > tail && h->size - tail <= size_max) {
        h->size -= tail;
        return 0;
    }
    memset(h, 0, sizeof *h);
    return -1;
}

void link_head_encode(uint8_t buf[LINK_HEAD],
                      const struct link_head *h,
                      uint32_t tail)
{
    uint32_t after = h->size > 0 ? h->size + link_head_tail(h, tail) : 0;
    struct message_head m = {h->type, LINK_HEAD - MESSAGE_HEAD + after};

    message_encode(buf, &m);
    put_u32(buf + 12, h->broadcast);
    put_u32(buf + 16, h->chunk);
    put_u32(buf + 20, h->flags);
    put_u32(buf + 24, (uint32_t)(h->bytes >> 32));
    put_u32(buf + 28, (uint32_t)h->bytes);
    memcpy(buf + 32, h->digest, sizeof h->digest);
}
