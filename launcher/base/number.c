/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int number_parse_int(const char *text,
                     int64_t low,
                     int64_t high,
                     int64_t *value)
{
    const char *digits = text + (*text == '-');
    long long v;

    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return -1;
    errno = 0;
    v = strtoll(text, NULL, 10);
    if (errno != 0 || v < low || v > high)
        return -1;
    *value = v;
    return 0;
}

int number_parse_u64(const char *text, uint64_t *value)
{
    unsigned long long v;

    if (!*text || strspn(text, "0123456789") != strlen(text))
        return -1;
    errno = 0;
    v = strtoull(text, NULL, 10);
    if (errno != 0)
        return -1;
    *value = v;
    return 0;
}

int number_parse_double(const char *text,
                        double low,
                        double high,
                        double *value)
{
    char *end;
    double v;

    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
        return -1;
    v = strtod(text, &end);
    if (*end || !(v >= low && v <= high))
        return -1;
    *value = v;
    return 0;
}
