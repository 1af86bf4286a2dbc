/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/rack.h"

#include <stdio.h>
#include <string.h>

/* The characters of one name; a list of switches, "s[1,2]", is no rack. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

/* Does the pattern end in these levels, as whole words? */
static int ends_in(const char *pattern, const char *levels)
{
    size_t len = strlen(pattern), n = strlen(levels);

    return len >= n && strcmp(pattern + len - n, levels) == 0
           && (len == n || pattern[len - n - 1] == '.');
}

static int has_rack(const char *pattern)
{
    return ends_in(pattern, "switch.node") || ends_in(pattern, "block.node");
}

void rack_find(char *rack,
               size_t size,
               const char *address,
               const char *pattern)
{
    const char *end = strrchr(address, '.'), *begin = end;

    rack[0] = '\0';
    if (!end || !has_rack(pattern))
        return;
    while (begin > address && begin[-1] != '.')
        begin--;
    if (strspn(begin, plain) < (size_t)(end - begin))
        return;
    if ((size_t)snprintf(rack, size, "%.*s", (int)(end - begin), begin) >= size)
        rack[0] = '\0';
}
