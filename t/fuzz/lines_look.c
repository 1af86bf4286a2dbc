/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as the begin of a file of lines: what it looks like does not depend
 * on what stands behind its last newline. */
#include "launcher/base/lines_look.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* so that ASan sees its end */
    enum lines_kind all, cut;

    if (!text)
        return 0;
    memcpy(text, data, size);
    all = lines_kind(text, size, 0);
    while (size > 0 && text[size - 1] != '\n')
        size--;
    cut = lines_kind(text, size, 0);
    if (all != cut || all > LINES_HEADER)
        abort();
    (void)lines_kind(text, size, 1);
    free(text);
    return 0;
}
