/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/record_file.h"
#include "launcher/whatif/json_lines.h"

#include <ctype.h>
#include <math.h>
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

enum { NO_MEMORY = 1, NO_LINE = 2 }; /* of add_line() */

struct reading {
    struct record_file *f;
    const char *type;
};

static int add_line(void *arg, json_t *line)
{
    const struct reading *r = arg;
    struct record_file *f = r->f;
    int rc = 0;

    if (!json_is_object(line) || !is_plain(line, 0)
        || !record_text(line, "type")[0])
        rc = NO_LINE;
    else if (!f->first)
        f->first = json_incref(line);
    else if (json_array_size(f->lines) >= LINES_MAX)
        rc = NO_LINE;
    else if (strcmp(record_text(line, "type"), r->type) == 0)
        rc = json_array_append(f->lines, line) < 0 ? NO_MEMORY : 0;
    json_decref(line);
    return rc;
}

int record_file_read(struct record_file *f,
                     const char *path,
                     const char *type,
                     struct es_error *err)
{
    struct reading r = {f, type};
    size_t n;
    int rc;

    *f = (struct record_file){.lines = json_array()};
    rc = f->lines ? json_lines_read(path, add_line, &r, &n, err) : NO_MEMORY;
    if (rc == NO_MEMORY)
        return es_no_memory(err);
    if (rc == NO_LINE || (rc == 0 && !f->first))
        return es_fail(err, ES_USAGE, "give a report as it was written",
                       "report: %s: line %zu is none of a report, or is not "
                       "whole",
                       path, n);
    return rc;
}

void record_file_clear(struct record_file *f)
{
    json_decref(f->first);
    json_decref(f->lines);
    memset(f, 0, sizeof *f);
}
