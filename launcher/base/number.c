/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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
        return NUMBER_NONE;
    errno = 0;
    v = strtoll(text, NULL, 10);
    if (errno != 0 || v < low || v > high)
        return NUMBER_OUT_OF_RANGE;
    *value = v;
    return 0;
}

int number_parse_u64(const char *text, uint64_t *value)
{
    unsigned long long v;

    if (!*text || strspn(text, "0123456789") != strlen(text))
        return NUMBER_NONE;
    errno = 0;
    v = strtoull(text, NULL, 10);
    if (errno != 0)
        return NUMBER_OUT_OF_RANGE;
    *value = v;
    return 0;
}

static const char real[] = "+-.0123456789eE";

int number_parse_double(const char *text,
                        double low,
                        double high,
                        double *value)
{
    char *end;
    double v;

    if (!*text || strspn(text, real) != strlen(text))
        return NUMBER_NONE;
    v = strtod(text, &end);
    if (*end || end == text)
        return NUMBER_NONE;
    if (!(v >= low && v <= high))
        return NUMBER_OUT_OF_RANGE;
    *value = v;
    return 0;
}

/* --- units ---------------------------------------------------------------- */

static double seconds_of(const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } known[] = {
        {"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
        {"ns", 1e-9}, {"m", 60}, {"min", 60},  {"h", 3600},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(known[i].name, unit) == 0)
            return known[i].seconds;
    return 0;
}

/* 0 if it is none. */
static double bytes_of(const char *unit, int is_rate)
{
    static const char prefixes[] = "kmgtp";
    double bytes = 1, step = 1000;
    const char *at = *unit ? strchr(prefixes, *unit | 0x20) : NULL;

    if (at)
        unit++;
    if (at && (*unit == 'i' || *unit == 'I')) {
        step = 1024;
        unit++;
    }
    for (ptrdiff_t n = at ? at - prefixes + 1 : 0; n > 0; n--)
        bytes *= step;
    if (is_rate && strncasecmp(unit, "bit", 3) == 0) {
        bytes /= 8;
        unit += 3;
    } else if (*unit == 'b' || *unit == 'B') {
        unit++;
    }
    if (is_rate && strcmp(unit, "/s") == 0)
        unit += 2;
    return *unit ? 0 : bytes;
}

int number_parse_unit(const char *text,
                      enum number_unit unit,
                      double low,
                      double high,
                      double *value)
{
    size_t len = strspn(text, real);
    char number[40];
    double factor = unit == NUMBER_SECONDS
                        ? seconds_of(text + len)
                        : bytes_of(text + len, unit == NUMBER_RATE);
    double v;
    int rc;

    if (factor == 0 || len >= sizeof number)
        return NUMBER_NONE;
    memcpy(number, text, len);
    number[len] = '\0';
    rc = number_parse_double(number, -1e300, 1e300, &v);
    if (rc < 0)
        return rc;
    v *= factor;
    if (!(v >= low && v <= high))
        return NUMBER_OUT_OF_RANGE;
    *value = v;
    return 0;
}

void number_print_bytes(char text[NUMBER_BYTES_TEXT], double bytes)
{
    if (bytes < 1000)
        snprintf(text, NUMBER_BYTES_TEXT, "%.0f byte%s", bytes,
                 bytes == 1 ? "" : "s");
    else if (bytes < 1e5)
        snprintf(text, NUMBER_BYTES_TEXT, "%.1f kB", bytes / 1e3);
    else
        snprintf(text, NUMBER_BYTES_TEXT, "%.1f MB", fmin(bytes, 1e21) / 1e6);
}
