/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/trace_reader.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <math.h>
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
static ssize_t read_text(struct trace_reader *r, struct es_error *err)
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

/* End the frame: it becomes a line of a report. */
static int end_frame(struct trace_reader *r,
                     struct trace_line *line,
                     struct es_error *err)
{
    double last = time_frame(r->slices);
    json_t *frame;
    char *text;
    int rc;

    frame = json_pack("{s:s, s:I, s:o, s:f}", "type", "frame", "frame",
                      r->frame, "slices", r->slices, "last", last);
    r->slices = NULL; /* json_pack() takes it over, also if it fails */
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

/* Add the slice to the frame, in the order of the units as in a report. */
static int add_slice(struct trace_reader *r, json_t *slice)
{
    size_t at;

    if (!r->slices)
        r->slices = json_array();
    r->frame = json_integer_value(json_object_get(slice, "frame"));
    at = json_array_size(r->slices);
    while (at > 0
           && begin_of(json_array_get(r->slices, at - 1)) > begin_of(slice))
        at--;
    return json_array_insert(r->slices, at, slice);
}

static int is_of_another_frame(const struct trace_reader *r,
                               const json_t *slice)
{
    return r->slices
           && json_integer_value(json_object_get(slice, "frame")) != r->frame;
}

/* Take a line of a journal.  Returns 1 if it ends a frame. */
static int take_line(struct trace_reader *r,
                     size_t len,
                     struct trace_line *line,
                     struct es_error *err)
{
    json_error_t at;
    json_t *object = json_loadb(r->text, len, 0, &at);
    const char *type = json_string_value(json_object_get(object, "type"));
    int rc = 0;

    if (!object)
        return es_fail(err, ES_USAGE, "give a journal as it was written",
                       "trace, line %zu:%d: %s", r->number, at.column, at.text);
    if (type && (strcmp(type, "slice") == 0 || strcmp(type, "failed") == 0)) {
        if (is_of_another_frame(r, object))
            rc = end_frame(r, line, err);
        if (rc >= 0 && add_slice(r, object) < 0) {
            trace_clear(line);
            rc = es_no_memory(err);
        }
    }
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
    ssize_t len;
    int rc = 0;

    memset(line, 0, sizeof *line);
    while (rc == 0) {
        len = read_text(r, err);
        if (len == -2)
            return -1;
        if (len == -1 || (r->is_journal && feof(r->file)))
            return r->slices ? end_frame(r, line, err) : 0;
        r->is_journal |= begins_journal(r, (size_t)len);
        if (r->is_journal)
            rc = take_line(r, (size_t)len, line, err);
        else
            rc = trace_parse(line, r->number, r->text, (size_t)len, err) < 0
                     ? -1
                     : 1;
    }
    return rc;
}

void trace_reader_clear(struct trace_reader *r)
{
    free(r->text);
    json_decref(r->slices);
    *r = (struct trace_reader){.file = r->file};
}
