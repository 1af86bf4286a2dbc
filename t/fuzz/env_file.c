/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as what slurmstepd reads for the tasks of a step: refused with its
 * reason, or nothing but variables of ours, one a line. */
#include "spank_plugin/env_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_ours(const char *name)
{
    return strncmp(name, "EVENSTEP_", 9) == 0 && strlen(name) > 9
           && strlen(name) <= ENV_NAME_LEN
           && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
                  == strlen(name);
}

static size_t count_lines(const uint8_t *data, size_t size)
{
    size_t n = size > 0 && data[size - 1] != '\n';

    for (size_t i = 0; i < size; i++)
        n += data[i] == '\n';
    return n;
}

static void walk(const char *text, size_t len, size_t lines)
{
    const char *at = text;
    size_t n = 0;

    for (; at < text + len; n++) {
        const char *value = at + strlen(at) + 1;

        if (!is_ours(at) || strlen(value) > ENV_VALUE_LEN
            || strchr(value, '\n'))
            abort();
        at = value + strlen(value) + 1;
    }
    if (n != lines)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (!env_file_cut(text, size))
        walk(text, size, count_lines(data, size));
    free(text);
    return 0;
}
