/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/wireup_way.h"

#include <stddef.h>
#include <string.h>

static const char *const ways[] = {"auto", "pmix", "tcp"};

const char *wireup_way_name(enum wireup_way way)
{
    return ways[way];
}

int wireup_way_find(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(name, ways[i]) == 0)
            return (int)i;
    return -1;
}
