/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/trace_reader.h"
#include "launcher/run/journal.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char journal_head[] = "{\"type\":\"journal\",";

/* --- text ----------------------------------------------------------------- */

static int make_room(struct trace_reader *r, struct es_error *err)
{
    char *larger;

    if (r->room >= TRACE_LINE_MAX)
        return es_fail(err, ES_USAGE, "give JSON lines",
                       "trace, line %zu: is over %u bytes", r->number,
                       TRACE_LINE_MAX);
    larger = array_grow(r->text, &r->room, r->room + 1, 1, TRACE_LINE_MAX);
    if (!larger)
        return es_no_memory(err);
    r->text = larger;
    return 0;
}

/* Read the next line, without its end, into r->text.  Returns its length, -1 at
 * the end of the file, or -2 with err filled. */
static ssize_t read_row(struct trace_reader *r, struct es_error *err)
{
    size_t len = 0;
    int c;

    r->number++;
    while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
        if (len == r->room && make_room(r, err) < 0)
            return -2;
        r->text[len++] = (char)c;
    }
    if (ferror(r->file)) {
        (void)es_fail(err, ES_USAGE, "give a trace that can be read",
                      "trace, line %zu: %s", r->number, strerror(errno));
        return -2;
    }
    return c == EOF && len == 0 ? -1 : (ssize_t)len;
}

/* --- a journal ------------------------------------------------------------ */

/* How long the frame took at least. */
static double time_frame(const json_t *slices)
{
    json_t *busy = json_object();
    double last = 0;
    const json_t *slice;
    size_t i;

    json_array_foreach(slices, i, slice)
    {
        const char *node = json_string_value(json_object_get(slice, "node"));
        double s = json_number_value(json_object_get(slice, "seconds"));
        double sum;

        if (!node)
            continue; /* trace_parse() reports it */
        sum = json_number_value(json_object_get(busy, node)) + s;
        (void)json_object_set_new(busy, node, json_real(sum));
        last = fmax(last, sum);
    }
    json_decref(busy);
    return last;
}

/* The next frame, in the order in which they have begun, becomes a line of a
 * report.  1, 0 after the last one, or -1. */
static int next_frame(struct trace_reader *r,
                      struct trace_line *line,
                      struct es_error *err)
{
    json_t *slices, *frame;
    char *text;
    int rc;

    r->is_read = 1;
    r->next = r->next ? json_object_iter_next(r->frames, r->next)
                      : json_object_iter(r->frames);
    if (!r->next) {
        json_decref(r->frames);
        r->frames = NULL;
        return 0;
    }
    slices = json_object_iter_value(r->next);
    frame =
        json_pack("{s:s, s:I, s:O, s:f}", "type", "frame", "frame",
                  (json_int_t)strtoll(json_object_iter_key(r->next), NULL, 10),
                  "slices", slices, "last", time_frame(slices));
    text = frame ? json_dumps(frame, JSON_COMPACT) : NULL;
    json_decref(frame);
    if (!text)
        return es_no_memory(err);
    rc = trace_parse(line, r->number, text, strlen(text), err);
    free(text);
    return rc < 0 ? -1 : 1;
}

static json_int_t begin_of(const json_t *slice)
{
    return json_integer_value(json_object_get(slice, "begin"));
}

/* Add the slice to its frame, in the order of the units as in a report: with
 * --ahead, or a --resume, slices of several frames are mixed. */
static int add_slice(struct trace_reader *r, json_t *slice)
{
    char key[24];
    json_t *slices;
    size_t at;

    snprintf(key, sizeof key, "%jd",
             (intmax_t)json_integer_value(json_object_get(slice, "frame")));
    if (!r->frames)
        r->frames = json_object();
    slices = json_object_get(r->frames, key);
    if (!slices) {
        slices = json_array();
        if (json_object_set_new(r->frames, key, slices) < 0)
            return -1;
    }
    at = json_array_size(slices);
    while (at > 0 && begin_of(json_array_get(slices, at - 1)) > begin_of(slice))
        at--;
    return json_array_insert(slices, at, slice);
}

static int check_version(const json_t *head, struct es_error *err)
{
    json_int_t v = json_integer_value(json_object_get(head, "version"));

    if (v <= JOURNAL_VERSION)
        return 0;
    return es_fail(err, ES_USAGE, "read it with that evenstep",
                   "trace, line 1: the journal is of version "
                   "%" JSON_INTEGER_FORMAT
                   ", of a later evenstep; this one reads up to %d",
                   v, JOURNAL_VERSION);
}

static int take_line(struct trace_reader *r, size_t len, struct es_error *err)
{
    json_error_t at;
    json_t *object = json_loadb(r->text, len, 0, &at);
    const char *type = json_string_value(json_object_get(object, "type"));
    int rc = 0;

    if (!object)
        return es_fail(err, ES_USAGE, "give a journal as it was written",
                       "trace, line %zu:%d: %s", r->number, at.column, at.text);
    if (r->number == 1 && check_version(object, err) < 0)
        rc = -1;
    else if (type && (strcmp(type, "slice") == 0 || strcmp(type, "failed") == 0)
             && add_slice(r, object) < 0)
        rc = es_no_memory(err);
    json_decref(object);
    return rc;
}

/* --- either --------------------------------------------------------------- */

static int begins_journal(const struct trace_reader *r, size_t len)
{
    return r->number == 1 && len >= sizeof journal_head - 1
           && memcmp(r->text, journal_head, sizeof journal_head - 1) == 0;
}

int trace_reader_next(struct trace_reader *r,
                      struct trace_line *line,
                      struct es_error *err)
{
    int rc = 0;

    memset(line, 0, sizeof *line);
    while (rc == 0 && !r->is_read) {
        ssize_t len = read_row(r, err);

        if (len == -2)
            return -1;
        if (len == -1 || (r->is_journal && feof(r->file)))
            break;
        r->is_journal |= begins_journal(r, (size_t)len);
        if (r->is_journal)
            rc = take_line(r, (size_t)len, err);
        else
            rc = trace_parse(line, r->number, r->text, (size_t)len, err) < 0
                     ? -1
                     : 1;
    }
    return rc == 0 && r->frames ? next_frame(r, line, err) : rc;
}

void trace_reader_clear(struct trace_reader *r)
{
    free(r->text);
    json_decref(r->frames);
    *r = (struct trace_reader){.file = r->file};
}
