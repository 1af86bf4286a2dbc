/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/record_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 1000000u
#define DEPTH_MAX 16

/* --- values --------------------------------------------------------------- */

double record_number(const json_t *object, const char *key, double other)
{
    const json_t *value = json_object_get(object, key);
    double v = json_number_value(value);

    return json_is_number(value) && isfinite(v) ? v : other;
}

const char *record_text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    return value ? value : "";
}

static int is_plain_text(const char *text)
{
    for (const char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            return 0;
    return 1;
}

/* Nothing in it plays tricks on a terminal. */
static int is_plain(const json_t *value, int depth)
{
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_string(value))
        return is_plain_text(json_string_value(value));
    if (depth == DEPTH_MAX)
        return 0;
    if (json_is_array(value)) {
        json_array_foreach(value, i, member)
        {
            if (!is_plain(member, depth + 1))
                return 0;
        }
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, member)
        {
            if (!is_plain_text(key) || !is_plain(member, depth + 1))
                return 0;
        }
    }
    return 1;
}

/* --- lines ---------------------------------------------------------------- */

/* Takes over line.  1 if memory ran out, -1 if it is none. */
static int add_line(struct record_file *f, json_t *line, const char *type)
{
    int rc = 0;

    if (!json_is_object(line) || !is_plain(line, 0)
        || !record_text(line, "type")[0])
        rc = -1;
    else if (!f->first)
        f->first = json_incref(line);
    else if (json_array_size(f->lines) >= LINES_MAX)
        rc = -1;
    else if (strcmp(record_text(line, "type"), type) == 0)
        rc = json_array_append(f->lines, line) < 0 ? 1 : 0;
    json_decref(line);
    return rc;
}

static int is_at_end(FILE *file)
{
    int c;

    do
        c = getc(file);
    while (c != EOF && isspace(c));
    (void)ungetc(c, file);
    return c == EOF;
}

int record_file_read(struct record_file *f,
                     const char *path,
                     const char *type,
                     struct es_error *err)
{
    FILE *file = fopen(path, "re");
    size_t n = 0;
    int rc = 0;

    memset(f, 0, sizeof *f);
    if (!file)
        return es_fail(err, ES_USAGE, "name a file that you may read",
                       "report: %s: %s", path, strerror(errno));
    f->lines = json_array();
    for (; f->lines && rc == 0 && !is_at_end(file); n++)
        rc = add_line(f, json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL), type);
    (void)fclose(file); /* it was only read */
    if (!f->lines || rc > 0)
        return es_no_memory(err);
    if (rc < 0 || !f->first)
        return es_fail(err, ES_USAGE, "give a report as it was written",
                       "report: %s: line %zu is none of a report, or is not "
                       "whole",
                       path, n);
    return 0;
}

void record_file_clear(struct record_file *f)
{
    json_decref(f->first);
    json_decref(f->lines);
    memset(f, 0, sizeof *f);
}
