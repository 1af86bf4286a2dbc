/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/range_option.h"
#include "launcher/base/number.h"

#include <stdio.h>
#include <string.h>

int range_option_parse(uint64_t *begin,
                       uint64_t *end,
                       const char *where,
                       const char *text,
                       struct es_error *err)
{
    const char *colon = strchr(text, ':');
    char first[32];
    uint64_t b, e;

    if (!colon || (size_t)(colon - text) >= sizeof first)
        return es_fail(err, ES_USAGE, "give BEGIN:END",
                       "%s: \"%s\" is no range", where, text);
    snprintf(first, sizeof first, "%.*s", (int)(colon - text), text);
    if (number_parse_u64(first, &b) < 0 || number_parse_u64(colon + 1, &e) < 0)
        return es_fail(err, ES_USAGE, "give BEGIN:END, whole numbers",
                       "%s: \"%s\" is no range", where, text);
    if (e > INT64_MAX)
        return es_fail(err, ES_USAGE, "give units below 2^63",
                       "%s: %s is out of range", where, text);
    if (b >= e)
        return es_fail(err, ES_USAGE, "give a begin below the end",
                       "%s: %s is %s", where, text,
                       b == e ? "empty" : "reversed");
    *begin = b;
    *end = e;
    return 0;
}
