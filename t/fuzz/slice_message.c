/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes back is written again as the very same bytes. */
#include "launcher/libevenstep/slice_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice_message m;
    struct writer w = {0};

    if (slice_message_read(&m, data, size) < 0)
        return 0;
    slice_message_write(&w, &m);
    if (w.bad || w.len != size || memcmp(w.buf, data, size) != 0
        || m.begin > m.end || strlen(m.label) >= sizeof m.label)
        abort();
    writer_clear(&w);
    return 0;
}
