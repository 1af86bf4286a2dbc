/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as the begin of a file of lines: what it looks like is known, and a header
 * has no more lines than there are. */
#include "launcher/base/lines_look.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const char *text, size_t size)
{
    size_t n = 1;

    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n';
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* so that ASan sees its end */
    size_t header;

    if (!text)
        return 0;
    memcpy(text, data, size);
    for (int whole = 0; whole < 2; whole++)
        if (lines_kind(text, size, whole, &header) > LINES_HEADER
            || header > count_lines(text, size))
            abort();
    free(text);
    return 0;
}
