/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/lines_look.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_BYTES 16384u
#define SAMPLE_LINES 32u
#define FIELD_MAX    64u /* bytes of a number, with its NUL */

struct text { /* of a line, without its end */
    const char *at;
    size_t len;
};

/* --- lines and fields ----------------------------------------------------- */

/* The first whole lines. */
static size_t cut_lines(struct text line[SAMPLE_LINES],
                        const char *text,
                        size_t len,
                        int whole)
{
    const char *end = text + len, *stop;
    size_t n = 0;

    for (; n < SAMPLE_LINES && text < end; text = stop + 1) {
        stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop && !whole)
            break;
        if (!stop)
            stop = end;
        line[n] = (struct text){text, (size_t)(stop - text)};
        if (line[n].len > 0 && stop[-1] == '\r')
            line[n].len--;
        n++;
    }
    return n;
}

static int begins(const struct text *t, char c)
{
    return t->len > 0 && t->at[0] == c;
}

static size_t count_fields(const struct text *t, char between)
{
    size_t n = 1;

    for (size_t i = 0; i < t->len; i++)
        n += t->at[i] == between;
    return n;
}

static struct text field_of(const struct text *t, char between, size_t i)
{
    struct text field = *t;
    const char *end;

    for (;; i--) {
        end = field.len > 0 ? memchr(field.at, between, field.len) : NULL;
        if (i == 0 || !end)
            break;
        field.len -= (size_t)(end + 1 - field.at);
        field.at = end + 1;
    }
    if (end)
        field.len = (size_t)(end - field.at);
    return field;
}

static int is_number(const struct text *t)
{
    char number[FIELD_MAX];
    double v;

    if (t->len == 0 || t->len >= sizeof number)
        return 0;
    memcpy(number, t->at, t->len);
    number[t->len] = '\0';
    return number_parse_double(number, -INFINITY, INFINITY, &v) == 0;
}

/* --- kinds ---------------------------------------------------------------- */

static int is_fasta(const struct text line[], size_t n)
{
    if (n < 2 || !begins(&line[0], '>'))
        return 0;
    for (size_t i = 1; i < n; i++)
        if (line[i].len > 0 && line[i].at[0] != '>')
            return 1;
    return 0;
}

static int is_fastq(const struct text line[], size_t n)
{
    for (size_t i = 0; i + 3 < n; i += 4)
        if (!begins(&line[i], '@') || !begins(&line[i + 2], '+')
            || line[i + 1].len == 0 || line[i + 1].len != line[i + 3].len)
            return 0;
    return n >= 4;
}

/* A column that has a name above numbers. */
static int is_named(const struct text line[], size_t n, char between, size_t i)
{
    struct text field = field_of(&line[0], between, i);

    if (field.len == 0)
        return 0;
    for (size_t k = 1; k < n; k++) {
        field = field_of(&line[k], between, i);
        if (!is_number(&field))
            return 0;
    }
    return 1;
}

static int has_names(const struct text line[], size_t n, char between)
{
    size_t fields = n < 3 ? 0 : count_fields(&line[0], between), named = 0;

    if (fields < 2)
        return 0;
    for (size_t k = 1; k < n; k++)
        if (count_fields(&line[k], between) != fields)
            return 0;
    for (size_t i = 0; i < fields; i++) {
        struct text name = field_of(&line[0], between, i);

        if (is_number(&name))
            return 0;
        named += is_named(line, n, between, i) != 0;
    }
    return named > 0;
}

enum lines_kind lines_kind(const char *text, size_t len, int whole)
{
    struct text line[SAMPLE_LINES];
    size_t n = cut_lines(line, text, len, whole);

    if (is_fasta(line, n))
        return LINES_FASTA;
    if (is_fastq(line, n))
        return LINES_FASTQ;
    for (const char *between = ",;\t"; *between; between++)
        if (has_names(line, n, *between))
            return LINES_HEADER;
    return LINES_PLAIN;
}

void lines_look(const struct lines *l)
{
    static const char *const word[] = {
        [LINES_FASTA] = "looks like FASTA, and is cut within its records: give "
                        "--recstart '>'",
        [LINES_FASTQ] = "looks like FASTQ, and is cut within its records: give "
                        "--record 4",
        [LINES_HEADER] = "has a first line of names above numbers, which is "
                         "taken for a unit: give --header 1",
    };
    char text[SAMPLE_BYTES];
    struct es_error err;
    size_t len = l->size < sizeof text ? (size_t)l->size : sizeof text;
    enum lines_kind kind;

    if (lines_read(l, 0, text, len, &err) < 0)
        return; /* who reads it in earnest says so */
    kind = lines_kind(text, len, len == l->size);
    if (kind != LINES_PLAIN)
        notice("--lines: %s %s; or --record 1, if each line is a unit", l->path,
               word[kind]);
}
