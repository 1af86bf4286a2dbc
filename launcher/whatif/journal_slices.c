/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/journal_slices.h"
#include "launcher/run/journal.h"
#include "launcher/run/journal_line.h"
#include "launcher/run/kept.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- its lines -------------------------------------------------------------- */

static int refuse(size_t number, const char *what, struct es_error *err)
{
    return es_fail(err, ES_USAGE, "give a journal as it was written",
                   "trace, line %zu: %s", number, what);
}

static int take_head(const json_t *head, struct es_error *err)
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

/* How many lines the text has that is named so ("N hash HEX"). */
static void take_text(struct journal_slices *s, const json_t *line)
{
    const char *text = json_string_value(json_object_get(line, "text"));
    char *end;

    if (!text)
        return;
    errno = 0;
    s->n_lines = strtoull(text, &end, 10);
    s->has_lines = end > text && errno == 0;
}

static uint64_t number_of(const json_t *line, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(line, key));
}

static int take_slice(struct journal_slices *s,
                      json_t *line,
                      int is_failed,
                      struct es_error *err)
{
    struct kept *k =
        array_grow(s->kept, &s->room, s->n + 1, sizeof *k, SIZE_MAX);
    uint64_t frame = number_of(line, "frame");

    if (k)
        s->kept = k;
    if (k && !s->line)
        s->line = json_array();
    if (!k || json_array_append(s->line, line) < 0)
        return es_no_memory(err);
    k[s->n] = (struct kept){
        .frame = frame,
        .units = {number_of(line, "begin"), number_of(line, "end")},
        .line = s->n,
        .failed = (size_t)is_failed,
        .taken = frame < s->n_queued ? s->queued[frame] : 0,
        .has_text = json_object_get(line, "text") != NULL,
    };
    s->n++;
    return 0;
}

/* A frame of a queue is there, is another one than before, or is gone. */
static int take_queued(struct journal_slices *s,
                       const json_t *line,
                       size_t number,
                       struct es_error *err)
{
    uint64_t frame = number_of(line, "frame");
    size_t *queued;

    if (frame > s->n_queued)
        return refuse(number, "\"frame\" is neither known nor the next", err);
    queued = array_grow(s->queued, &s->queued_room, s->n_queued + 1,
                        sizeof *queued, SIZE_MAX);
    if (!queued)
        return es_no_memory(err);
    s->queued = queued;
    if (frame == s->n_queued)
        queued[s->n_queued++] = 0;
    queued[frame]++;
    return 0;
}

static int take_dropped(struct journal_slices *s,
                        json_t *line,
                        size_t number,
                        struct es_error *err)
{
    uint64_t slice;

    if (journal_line_read_dropped(line, &slice) < 0 || slice >= s->n)
        return refuse(number, "\"slice\" is none of those before", err);
    s->kept[slice].is_gone = 1;
    return 0;
}

int journal_slices_take(struct journal_slices *s,
                        json_t *line,
                        size_t number,
                        struct es_error *err)
{
    const char *type = json_string_value(json_object_get(line, "type"));

    if (number == 1 && take_head(line, err) < 0)
        return -1;
    if (!type)
        return 0;
    if (strcmp(type, "slice") == 0 || strcmp(type, "failed") == 0)
        return take_slice(s, line, strcmp(type, "failed") == 0, err);
    if (strcmp(type, "queued") == 0 || strcmp(type, "gone") == 0)
        return take_queued(s, line, number, err);
    if (strcmp(type, "dropped") == 0)
        return take_dropped(s, line, number, err);
    if (strcmp(type, "journal") == 0 || strcmp(type, "text") == 0)
        take_text(s, line);
    return 0;
}

/* --- those that count --------------------------------------------------------- */

static int is_gone(const struct journal_slices *s, const struct kept *k)
{
    size_t queued = k->frame < s->n_queued ? s->queued[k->frame] : 0;

    return k->is_gone || k->taken != queued
           || (k->has_text && s->has_lines && k->units.end > s->n_lines);
}

int journal_slices_settle(struct journal_slices *s, struct es_error *err)
{
    for (size_t i = 0; i < s->n; i++)
        s->kept[i].is_gone = is_gone(s, &s->kept[i]);
    switch (kept_settle(s->kept, &s->n)) {
    case KEPT_NO_MEMORY:
        return es_no_memory(err);
    case KEPT_TWICE:
        return es_fail(err, ES_USAGE, "give a journal as it was written",
                       "trace: the journal has units twice");
    case KEPT_SETTLED:
        break;
    }
    return 0;
}

int journal_slices_next(struct journal_slices *s,
                        json_t **slices,
                        uint64_t *frame,
                        struct es_error *err)
{
    if (s->next == s->n)
        return 0;
    *frame = s->kept[s->next].frame;
    *slices = json_array();
    for (; s->next < s->n && s->kept[s->next].frame == *frame; s->next++)
        if (json_array_append(*slices,
                              json_array_get(s->line, s->kept[s->next].line))
            < 0) {
            json_decref(*slices);
            return es_no_memory(err);
        }
    return 1;
}

void journal_slices_clear(struct journal_slices *s)
{
    json_decref(s->line);
    free(s->kept);
    free(s->queued);
    memset(s, 0, sizeof *s);
}
