/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/env_list.h"

#include <stdlib.h>

char **env_list_make(char *const env[],
                     int (*keeps)(const char *entry),
                     char *entry)
{
    size_t n = 0, kept = 0;
    char **list;

    while (env[n])
        n++;
    list = calloc(n + 2, sizeof *list);
    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!keeps || keeps(env[i]))
            list[kept++] = env[i];
    list[kept] = entry;
    return list;
}
