/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/rack.h"

#include <stdio.h>
#include <string.h>

static const char last_level[] = "switch.node";
/* The characters of one name; a list of switches, "s[1,2]", is no rack. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

/* Does the pattern end in that level, as a whole word? */
static int has_switch(const char *pattern)
{
    size_t len = strlen(pattern), n = sizeof last_level - 1;

    return len >= n && strcmp(pattern + len - n, last_level) == 0
           && (len == n || pattern[len - n - 1] == '.');
}

void rack_find(char *rack,
               size_t size,
               const char *address,
               const char *pattern)
{
    const char *end = strrchr(address, '.'), *begin = end;

    rack[0] = '\0';
    if (!end || !has_switch(pattern))
        return;
    while (begin > address && begin[-1] != '.')
        begin--;
    if (strspn(begin, plain) < (size_t)(end - begin))
        return;
    if ((size_t)snprintf(rack, size, "%.*s", (int)(end - begin), begin) >= size)
        rack[0] = '\0';
}
