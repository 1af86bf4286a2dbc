/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a table and as an adapter: refused, or sound throughout. */
#include "pmix_bcast/conntable.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_adapter(const uint8_t *data, size_t size)
{
    uint8_t back[ADAPTER_BYTES];
    struct adapter a;

    if (adapter_decode(&a, data, size) < 0)
        return;
    adapter_encode(back, &a);
    if (size != ADAPTER_BYTES || memcmp(back, data, size) != 0)
        abort();
}

/* Not even a table whose digest was not checked leads out of its bytes. */
static void check_table(const uint8_t *data, size_t size)
{
    struct conntable_entry e;
    struct conntable t;
    struct es_error err = {0};

    if (conntable_read(&t, "fuzz", data, size, CONNTABLE_HEAD_ONLY, &err) < 0) {
        if (t.bytes || !err.what[0] || !err.mend[0]
            || conntable_read(&t, "fuzz", data, size, CONNTABLE_DIGEST, NULL)
                   == 0)
            abort();
        return;
    }
    for (uint32_t rank = 0; rank < t.tasks; rank++)
        if (conntable_lookup(&t, rank, &e) == 0
            && !adapter_is_sound(&e.adapter))
            abort();
    if (conntable_lookup(&t, t.tasks, &e) == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_adapter(data, size);
    check_table(data, size);
    return 0;
}
