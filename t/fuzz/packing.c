/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a compressed chunk, of any size that was announced: what comes
 * out is as long as was said, and can be compressed again. */
#include "pmix_bcast/packing.h"

#include <stdint.h>
#include <stdlib.h>

#define CHUNK 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct packing *p = packing_create(PACK_NONE, 1, CHUNK);
    uint32_t raw = size > 2 ? (data[1] + 256u * data[2]) % CHUNK + 1 : 1;
    uint8_t *out = malloc(raw);
    struct packed packed = {size > 0 && data[0] & 1 ? PACK_LZ4 : PACK_ZSTD,
                            data + 3, 0};

    if (p && out && size > 3 && size - 3 <= CHUNK) {
        packed.size = (uint32_t)(size - 3);
        if (packing_open(p, 0, &packed, out, raw) == 0) {
            struct packed again = packing_make(p, 0, out, raw);

            if (packing_known(p, 0).size != packed.size || again.size > raw)
                abort();
        }
    }
    packing_destroy(p);
    free(out);
    return 0;
}
