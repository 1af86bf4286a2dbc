/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first line is the value of --meter, what follows a program prints: one
 * is refused with its reason, or the fraction is one, and never goes back in a
 * slice, whatever is printed, and however it is cut into pieces.
 */
#include "launcher/config/meter_option.h"

#include <stdlib.h>
#include <string.h>

/* Of a pattern: glibc's own expressions may take any time, by counts and by
 * references to a group; their price is the user's who gives them. */
#define PATTERN_MAX 40
#define GROUPS_MAX  4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static int is_cheap(const char *pattern)
{
    size_t groups = 0, repeats = 0;

    for (const char *p = pattern; *p; p++) {
        groups += *p == '(';
        repeats += *p == '*' || *p == '+' || *p == '?';
        if (*p == '{' || *p == '\\')
            return 0;
    }
    return strlen(pattern) <= PATTERN_MAX && groups <= GROUPS_MAX
           && repeats <= GROUPS_MAX;
}

/* One slice, printed in pieces of so many bytes. */
static double run(struct outside_meter *m,
                  const char *text,
                  size_t len,
                  size_t piece)
{
    double before = 0;

    outside_meter_begin(m, 100);
    for (size_t at = 0; at < len; at += piece) {
        size_t n = len - at < piece ? len - at : piece;

        outside_meter_read(m, OUTSIDE_OUT, text + at, n);
        must(m->fraction >= before && m->fraction <= 1);
        before = m->fraction;
    }
    return m->fraction;
}

static void print(const struct meter_option *o, const char *text, size_t len)
{
    struct outside_meter m;
    uint64_t misuse;
    double whole;

    must(outside_meter_init(&m, o->kind, o->pattern) == 0);
    whole = run(&m, text, len, len + 1);
    misuse = m.misuse;
    must(misuse <= len);
    must(!(run(&m, text, len, 7) < whole) && !(m.fraction > whole));
    must(m.misuse == 2 * misuse);
    outside_meter_read(&m, OUTSIDE_ERR, text, len);
    outside_meter_cpu(&m, 0.5);
    outside_meter_end(&m);
    must(!(m.fraction < 1) && !(m.fraction > 1));
    outside_meter_clear(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct es_error err = {0};
    struct meter_option o = {0};
    char *text = malloc(size + 1), *rest;

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    rest = memchr(text, '\n', size);
    if (rest)
        *rest++ = '\0';
    else
        rest = text + size;
    if (is_cheap(text)) {
        if (meter_option_take(&o, text, &err) == 0)
            print(&o, rest, size - (size_t)(rest - text));
        else
            must(err.kind == ES_USAGE && err.what[0] && err.mend[0] && !o.kind);
    }
    free(text);
    return 0;
}
