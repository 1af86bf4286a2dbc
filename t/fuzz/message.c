/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/message.h"
#include "pmix_bcast/wireup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message_head h;
    struct endpoint e;
    char *text = calloc(1, size + 1);

    if (message_decode(&h, data, size, MESSAGE_BODY_MAX) == 1
        && (h.length > MESSAGE_BODY_MAX || h.type == 0))
        abort();
    if (text && size > 0)
        memcpy(text, data, size);
    if (text && endpoint_parse(&e, text) == 0 && (!e.port || !e.node[0]))
        abort();
    free(text);
    return 0;
}
