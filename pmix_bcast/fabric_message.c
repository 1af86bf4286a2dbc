/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/fabric_message.h"

#include <string.h>

void fabric_write_place(struct writer *w, const struct fabric_place *p)
{
    write_text(w, p->provider);
    write_blob(w, p->name, p->name_len);
    write_u64(w, p->memory);
    write_u64(w, p->key);
    write_u32(w, p->slots);
    write_u32(w, p->slot_bytes);
}

/* Nothing, or some of some size, that do not go past the end of all memory. */
static int are_slots(const struct fabric_place *p)
{
    uint64_t all = (uint64_t)p->slots * p->slot_bytes;

    if (p->slots == 0 && p->slot_bytes == 0)
        return 1;
    return p->slots > 0 && p->slots <= FABRIC_SLOTS_MAX && p->slot_bytes > 0
           && p->slot_bytes <= FABRIC_SLOT_MAX && p->memory <= UINT64_MAX - all;
}

int fabric_read_place(struct fabric_place *p, const uint8_t *body, size_t len)
{
    struct reader r = {body, len, 0};
    const uint8_t *name;
    size_t n;

    memset(p, 0, sizeof *p);
    read_text(&r, p->provider, sizeof p->provider);
    name = read_blob(&r, &n);
    if (n > 0 && n <= sizeof p->name) {
        memcpy(p->name, name, n);
        p->name_len = (uint32_t)n;
    }
    p->memory = read_u64(&r);
    p->key = read_u64(&r);
    p->slots = read_u32(&r);
    p->slot_bytes = read_u32(&r);
    if (read_end(&r) == 0 && p->provider[0] && p->name_len > 0 && are_slots(p))
        return 0;
    memset(p, 0, sizeof *p);
    return -1;
}
