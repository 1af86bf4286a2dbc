/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/env_file.h"

#include <string.h>

#define PREFIX "EVENSTEP_"

/* "EVENSTEP_NAME=value", of len bytes: where its '=' stands, or NULL. */
static char *find_equals(char *line, size_t len)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char *equals = memchr(line, '=', len);
    size_t name_len;

    if (!equals)
        return NULL;
    name_len = (size_t)(equals - line);
    if (name_len <= strlen(PREFIX) || name_len > ENV_NAME_LEN
        || strncmp(line, PREFIX, strlen(PREFIX)) != 0
        || len - name_len - 1 > ENV_VALUE_LEN)
        return NULL;
    for (size_t i = 0; i < name_len; i++)
        if (!memchr(allowed, line[i], sizeof allowed - 1))
            return NULL;
    return equals;
}

const char *env_file_cut(char *text, size_t len)
{
    char *at = text, *end = text + len;

    if (memchr(text, '\0', len))
        return "there is a NUL in it";
    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        char *equals;

        if (!stop)
            stop = end;
        equals = find_equals(at, (size_t)(stop - at));
        if (!equals)
            return "a line of it is not EVENSTEP_NAME=value, of at most 4096 "
                   "bytes";
        *equals = '\0';
        *stop = '\0';
        at = stop + 1;
    }
    return NULL;
}
