/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/trace_reader.h"
#include "launcher/base/text_file.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <math.h>
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

/* The next frame becomes a line of a report.  1, 0 after the last one, or -1. */
static int next_frame(struct trace_reader *r,
                      struct trace_line *line,
                      struct es_error *err)
{
    uint64_t number;
    json_t *slices, *frame;
    char *text;
    int rc = journal_slices_next(&r->slices, &slices, &number, err);

    if (rc <= 0)
        return rc;
    frame = json_pack("{s:s, s:I, s:O, s:f}", "type", "frame", "frame",
                      (json_int_t)number, "slices", slices, "last",
                      time_frame(slices));
    text = frame ? json_dumps(frame, JSON_COMPACT) : NULL;
    json_decref(frame);
    json_decref(slices);
    if (!text)
        return es_no_memory(err);
    rc = trace_parse(line, r->number, text, strlen(text), err);
    free(text);
    return rc < 0 ? -1 : 1;
}

static int take_line(struct trace_reader *r, size_t len, struct es_error *err)
{
    json_error_t at;
    json_t *object = json_loadb(r->text, len, 0, &at);
    int rc;

    if (!object)
        return es_fail(err, ES_USAGE, "give a journal as it was written",
                       "trace, line %zu:%d: %s", r->number, at.column, at.text);
    rc = journal_slices_take(&r->slices, object, r->number, err);
    json_decref(object);
    return rc;
}

/* --- either --------------------------------------------------------------- */

static int begins_journal(const struct trace_reader *r, size_t len)
{
    return r->number == 1 && len >= sizeof journal_head - 1
           && memcmp(r->text, journal_head, sizeof journal_head - 1) == 0;
}

/* All of it, when the first line was.  0, or -1. */
static int read_journal(struct trace_reader *r,
                        size_t len,
                        struct es_error *err)
{
    ssize_t more = (ssize_t)len;

    r->is_journal = r->is_read = 1;
    while (more >= 0 && !feof(r->file)) {
        if (take_line(r, (size_t)more, err) < 0)
            return -1;
        more = read_row(r, err);
    }
    return more == -2 ? -1 : journal_slices_settle(&r->slices, err);
}

int trace_reader_next(struct trace_reader *r,
                      struct trace_line *line,
                      struct es_error *err)
{
    ssize_t len;

    memset(line, 0, sizeof *line);
    if (!r->is_read) {
        if (r->number == 0)
            text_file_skip_mark(r->file);
        len = read_row(r, err);
        if (len < 0)
            return len == -1 ? 0 : -1;
        if (!begins_journal(r, (size_t)len))
            return trace_parse(line, r->number, r->text, (size_t)len, err) < 0
                       ? -1
                       : 1;
        if (read_journal(r, (size_t)len, err) < 0)
            return -1;
    }
    return next_frame(r, line, err);
}

void trace_reader_clear(struct trace_reader *r)
{
    free(r->text);
    journal_slices_clear(&r->slices);
    *r = (struct trace_reader){.file = r->file};
}
