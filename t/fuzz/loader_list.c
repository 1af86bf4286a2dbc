/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a loader's list: what is taken from a line is in it. */
#include "launcher/base/loader_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(char *line)
{
    const char *end = line + strlen(line);
    struct loader_object o;

    switch (loader_list_line(&o, line)) {
    case LOADER_OBJECT:
        if (o.name < line || o.name > end || o.path < line || o.path > end
            || !strchr(o.path, '/') || !o.name[0])
            abort();
        (void)loader_list_is_libc(o.name);
        (void)loader_list_is_in(o.path, o.name);
        break;
    case LOADER_MISSING:
        if (o.name < line || o.name > end)
            abort();
        break;
    case LOADER_NONE:
    case LOADER_STRANGE:
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *line;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    (void)loader_list_check(text);
    while ((line = strsep(&rest, "\n")) != NULL)
        check_line(line);
    free(text);
    return 0;
}
