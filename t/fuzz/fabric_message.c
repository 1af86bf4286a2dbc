/* SPDX-License-Identifier: BSD-2-Clause */
/* Where to write, as another node says it: what is taken is just what is
 * written again, and within its bounds. */
#include "pmix_bcast/fabric_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fabric_place p;
    struct writer w = {0};

    if (fabric_read_place(&p, data, size) < 0) {
        must(p.name_len == 0 && p.slots == 0);
        return 0;
    }
    must(p.name_len > 0 && p.name_len <= sizeof p.name);
    must(p.slots <= FABRIC_SLOTS_MAX && p.slot_bytes <= FABRIC_SLOT_MAX);
    must(p.memory + (uint64_t)p.slots * p.slot_bytes >= p.memory);
    fabric_write_place(&w, &p);
    must(w.bad || (w.len == size && memcmp(w.buf, data, size) == 0));
    writer_clear(&w);
    return 0;
}
