/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as the units of a frame: refused with its reason and nothing
 * changed, or a range that prints as what was read. */
#include "launcher/base/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *without_zeros(const char *digits)
{
    while (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
        digits++;
    return digits;
}

static void look(uint64_t begin, uint64_t end, const char *text)
{
    char first[24], second[24];
    const char *colon = strchr(text, ':'), *start = without_zeros(text);

    if (begin >= end || end > INT64_MAX)
        abort();
    snprintf(first, sizeof first, "%ju", (uintmax_t)begin);
    snprintf(second, sizeof second, "%ju", (uintmax_t)end);
    if (strncmp(start, first, strlen(first)) != 0
        || start + strlen(first) != colon
        || strcmp(without_zeros(colon + 1), second) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct option_range r = {7, 7};
    struct es_error err = {0};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (option_range_parse(&r, "--range", text, &err) == 0)
        look(r.begin, r.end, text);
    else if (r.begin != 7 || r.end != 7 || err.kind != ES_USAGE || !err.what[0]
             || !err.mend[0])
        abort();
    free(text);
    return 0;
}
