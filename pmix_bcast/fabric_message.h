/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_message.h - what the two ends of a link tell each other so that chunks
 * can go by libfabric, as the body of a LINK_FABRIC (link.h):
 *
 *   provider text        which of libfabric's; both ends must have the same
 *   name blob            of our endpoint, as that provider writes it
 *   memory u64, key u64  where the other end may write, and by what right
 *   slots u32, bytes u32 what stands there: so many slots of so many bytes
 *
 * Slots are written one after the other and then from the first on.
 */
#ifndef PMIX_BCAST_FABRIC_MESSAGE_H
#define PMIX_BCAST_FABRIC_MESSAGE_H

#include "pmix_bcast/bytes.h"
#include "pmix_bcast/plan.h"

#define FABRIC_PROVIDER_MAX 64u
#define FABRIC_NAME_MAX     256u
#define FABRIC_BODY_MAX     512u
#define FABRIC_SLOTS_MAX    16u
#define FABRIC_SLOT_MAX     (CHUNK_MAX + 4096u)

struct fabric_place {
    char provider[FABRIC_PROVIDER_MAX];
    uint8_t name[FABRIC_NAME_MAX];
    uint32_t name_len;
    uint64_t memory, key;
    uint32_t slots, slot_bytes; /* both 0: nothing is taken here */
};

void fabric_write_place(struct writer *w, const struct fabric_place *p);
/* 0, or -1 if the body is not just that, or says what cannot be; then *p is
 * zeroed. */
int fabric_read_place(struct fabric_place *p, const uint8_t *body, size_t len);

#endif
