/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/message.h"
#include "pmix_bcast/bytes.h"

#include <string.h>

static const char magic[4] = {'E', 'V', 'S', '2'};

int message_decode(struct message_head *h,
                   const uint8_t *buf,
                   size_t len,
                   uint32_t body_max)
{
    memset(h, 0, sizeof *h);
    if (len < MESSAGE_HEAD)
        return 0;
    if (memcmp(buf, magic, sizeof magic) != 0 || get_u16(buf + 4) == 0
        || get_u16(buf + 6) != 0 || get_u32(buf + 8) > body_max)
        return -1;
    h->type = get_u16(buf + 4);
    h->length = get_u32(buf + 8);
    return 1;
}

void message_encode(uint8_t buf[MESSAGE_HEAD], const struct message_head *h)
{
    memcpy(buf, magic, sizeof magic);
    put_u16(buf + 4, h->type);
    put_u16(buf + 6, 0);
    put_u32(buf + 8, h->length);
}
