/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/scontrol_output.h"

#include <stdio.h>
#include <string.h>

/* Behind the first "key=" or "key = "; NULL if there is none. */
static const char *find_key(const char *text, const char *key)
{
    for (const char *at = text; (at = strstr(at, key)) != NULL; at++) {
        const char *behind = at + strlen(key);

        if (at > text && !strchr(" \t\n", at[-1]))
            continue;
        behind += strspn(behind, " \t");
        if (*behind == '=')
            return behind + 1;
    }
    return NULL;
}

int scontrol_value(const char *text, const char *key, char *out, size_t size)
{
    const char *at = find_key(text, key);
    size_t len;

    if (!at)
        return -1;
    at += strspn(at, " \t");
    len = strcspn(at, " \t\n");
    if (len >= size)
        return -1;
    memcpy(out, at, len);
    out[len] = '\0';
    return 0;
}

struct port_range scontrol_port_range(const char *value)
{
    unsigned low, high;
    int end = 0;

    if (sscanf(value, "%5u-%5u%n", &low, &high, &end) != 2 || value[end]
        || low == 0 || low > high || high > UINT16_MAX)
        return (struct port_range){0, 0};
    return (struct port_range){(uint16_t)low, (uint16_t)high};
}

struct port_range scontrol_ports(const char *text)
{
    char value[64] = "";

    (void)scontrol_value(text, "SrunPortRange", value, sizeof value);
    return scontrol_port_range(value);
}
