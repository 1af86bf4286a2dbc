/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/journal_line.h"
#include "launcher/base/json_member.h"
#include "launcher/run/label_json.h"

#include <endian.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BASE64    sodium_base64_VARIANT_ORIGINAL
#define TASK_MARK 16u /* bytes */

/* --- writing -------------------------------------------------------------- */

/* A word as it is or, where JSON cannot hold it, as its hash. */
static json_t *word_json(const char *word)
{
    json_t *text = json_string(word);

    return text ? text
                : json_sprintf("xxh3 %016jx",
                               (uintmax_t)XXH3_64bits(word, strlen(word)));
}

json_t *journal_line_head(int version,
                          const char *work,
                          char *const command[],
                          const char *text)
{
    json_t *words = json_array();

    for (size_t i = 0; words && command[i]; i++)
        if (json_array_append_new(words, word_json(command[i])) < 0) {
            json_decref(words);
            words = NULL;
        }
    return json_pack("{s:s, s:i, s:o, s:o, s:s*}", "type", "journal", "version",
                     version, "work", word_json(work), "command", words, "text",
                     text);
}

/* Of each task two numbers of 8 bytes, little endian, as BASE64. */
static json_t *tasks_json(const struct task_mark *mark, size_t n)
{
    size_t room = sodium_base64_encoded_len(n * TASK_MARK, BASE64);
    unsigned char *bytes = malloc(n * TASK_MARK);
    char *text = malloc(room);
    json_t *json = NULL;

    if (bytes && text) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t v[] = {htole64(mark[i].text),
                                  htole64(mark[i].bytes)};

            memcpy(bytes + i * TASK_MARK, v, TASK_MARK);
        }
        json = json_string(
            sodium_bin2base64(text, room, bytes, n * TASK_MARK, BASE64));
    }
    free(bytes);
    free(text);
    return json;
}

static json_t *piece_json(const char *type,
                          uint64_t frame,
                          const char *node,
                          const struct piece *p)
{
    json_t *piece =
        json_pack("{s:s, s:I, s:s, s:I, s:I, s:f, s:i, s:i}", "type", type,
                  "frame", (json_int_t)frame, "node", node, "begin",
                  (json_int_t)p->part.units.begin, "end",
                  (json_int_t)p->part.units.end, "seconds", p->part.seconds,
                  "attempt", (int)p->part.attempt, "status", p->status);

    if (p->has_text)
        piece = json_member(piece, "text",
                            json_sprintf("%016jx", (uintmax_t)p->text));
    return p->task ? json_member(
               piece, "tasks",
               tasks_json(p->task,
                          (size_t)(p->part.units.end - p->part.units.begin)))
                   : piece;
}

static json_t *marks_json(const struct returned *r)
{
    json_t *files = json_array();

    for (uint32_t i = 0; files && i < r->n_marks; i++)
        if (json_array_append_new(
                files, json_pack("[I, I]", (json_int_t)r->mark[i].bytes,
                                 (json_int_t)r->mark[i].mtime_ns))
            < 0) {
            json_decref(files);
            files = NULL;
        }
    return files;
}

json_t *journal_line_slice(uint64_t frame, const char *node, struct piece *p)
{
    json_t *slice = json_member(piece_json("slice", frame, node, p), "bytes",
                                json_integer((json_int_t)spool_size(&p->out)));

    if (p->status != 0)
        slice = json_member(slice, "ok", json_true());
    return p->back.n_marks > 0
               ? json_member(slice, "files", marks_json(&p->back))
               : slice;
}

json_t *journal_line_failed(uint64_t frame,
                            const char *node,
                            const struct piece *p)
{
    json_t *failed = json_member(piece_json("failed", frame, node, p), "signal",
                                 json_integer(p->signal));

    return p->status == 0 ? json_member(failed, "ok", json_false()) : failed;
}

json_t *journal_line_dropped(const struct kept *k)
{
    return json_pack("{s:s, s:I}", "type", "dropped", "slice",
                     (json_int_t)k->line);
}

json_t *journal_line_queued(const struct queued *q)
{
    const struct frame *f = &q->frame;
    json_t *line;

    if (q->is_gone)
        return json_pack("{s:s, s:I}", "type", "gone", "frame",
                         (json_int_t)f->number);
    line = json_pack("{s:s, s:I, s:I, s:I, s:o, s:I, s:s*}", "type", "queued",
                     "frame", (json_int_t)f->number, "begin",
                     (json_int_t)f->begin, "end", (json_int_t)f->end, "label",
                     label_to_json(f->label), "source", (json_int_t)q->source,
                     "work", f->work[0] ? f->work : NULL);
    return q->is_of_file ? json_member(line, "file", json_true()) : line;
}

/* --- reading -------------------------------------------------------------- */

static int are_units(json_int_t begin, json_int_t end)
{
    return begin >= 0 && begin < end;
}

/* "text" of a slice, if it has one. */
static int take_text(struct kept *k, json_t *line)
{
    const char *text = json_string_value(json_object_get(line, "text"));
    char *end;

    if (!text)
        return 0;
    errno = 0;
    k->has_text = 1;
    k->text = strtoull(text, &end, 16);
    return strlen(text) == 16 && !*end && errno == 0 ? 0 : -1;
}

static int read_units(json_t *line, struct kept *k)
{
    json_int_t frame, begin, end;

    if (json_unpack(line, "{s:I, s:I, s:I}", "frame", &frame, "begin", &begin,
                    "end", &end)
            < 0
        || !are_units(begin, end) || frame < 0)
        return -1;
    k->frame = (uint64_t)frame;
    k->units = (struct slice){(uint64_t)begin, (uint64_t)end};
    return 0;
}

int journal_line_read_slice(json_t *line, struct kept *k)
{
    json_int_t bytes;

    if (read_units(line, k) < 0 || take_text(k, line) < 0
        || json_unpack(line, "{s:I}", "bytes", &bytes) < 0 || bytes < 0)
        return -1;
    k->bytes = k->whole = (uint64_t)bytes;
    return 0;
}

int journal_line_read_marks(json_t *line, struct file_mark mark[])
{
    json_t *files = json_object_get(line, "files");
    size_t n = json_array_size(files);
    json_int_t bytes, mtime_ns;

    if (n > FILES_MAX)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (json_unpack(json_array_get(files, i), "[I, I]", &bytes, &mtime_ns)
            < 0)
            return -1;
        mark[i] = (struct file_mark){bytes, mtime_ns};
    }
    return (int)n;
}

int journal_line_has_tasks(const json_t *line, const struct kept *k)
{
    const json_t *tasks = json_object_get(line, "tasks");
    uint64_t n = k->units.end - k->units.begin;
    size_t len = json_string_length(tasks);

    if (!tasks)
        return 0;
    return n <= len
                   && sodium_base64_encoded_len(n * TASK_MARK, BASE64)
                          == len + 1
               ? 1
               : -1;
}

int journal_line_read_tasks(const json_t *line,
                            const struct kept *k,
                            struct task_mark mark[])
{
    const char *text = json_string_value(json_object_get(line, "tasks"));
    size_t n = (size_t)(k->units.end - k->units.begin), len;
    unsigned char *bytes = (unsigned char *)mark;
    uint64_t all = 0;

    if (!text
        || sodium_base642bin(bytes, n * TASK_MARK, text, strlen(text), NULL,
                             &len, NULL, BASE64)
               != 0
        || len != n * TASK_MARK)
        return -1;
    for (size_t i = 0; i < n; i++) {
        uint64_t v[2];

        memcpy(v, bytes + i * TASK_MARK, TASK_MARK);
        mark[i] = (struct task_mark){le64toh(v[0]), le64toh(v[1])};
        if (mark[i].bytes > k->bytes - all)
            return -1;
        all += mark[i].bytes;
    }
    return all == k->bytes ? 0 : -1;
}

int journal_line_read_failed(json_t *line, struct kept *k, struct failure *f)
{
    const char *node;
    int status, signal;

    if (read_units(line, k) < 0 || take_text(k, line) < 0
        || json_unpack(line, "{s:s, s:i, s:i}", "node", &node, "status",
                       &status, "signal", &signal)
               < 0)
        return -1;
    *f = (struct failure){.frame = k->frame, .units = k->units};
    snprintf(f->node, sizeof f->node, "%s", node);
    snprintf(f->how, sizeof f->how, "%s %d in a run before",
             signal ? "was killed by signal" : "exited with status",
             signal ? signal : status);
    return 0;
}

int journal_line_read_queued(json_t *line, struct queued *q)
{
    json_int_t frame, begin, end, source;
    char label[LABEL_MAX];
    const char *work = "";

    if (json_unpack(line, "{s:I, s:I, s:I, s:I, s?s}", "frame", &frame, "begin",
                    &begin, "end", &end, "source", &source, "work", &work)
            < 0
        || label_from_json(label, json_object_get(line, "label")) < 0
        || strlen(work) >= WORK_NAME_MAX || !are_units(begin, end) || source < 0
        || frame < 0)
        return -1;
    *q = (struct queued){.source = (size_t)source,
                         .is_of_file =
                             json_is_true(json_object_get(line, "file"))};
    q->frame.number = (uint64_t)frame;
    q->frame.begin = (uint64_t)begin;
    q->frame.end = (uint64_t)end;
    snprintf(q->frame.label, LABEL_MAX, "%s", label);
    snprintf(q->frame.work, WORK_NAME_MAX, "%s", work);
    return 0;
}

static int read_number(json_t *line, const char *key, uint64_t *n)
{
    json_int_t number = json_integer_value(json_object_get(line, key));

    *n = (uint64_t)number;
    return json_is_integer(json_object_get(line, key)) && number >= 0 ? 0 : -1;
}

int journal_line_read_gone(json_t *line, uint64_t *frame)
{
    return read_number(line, "frame", frame);
}

int journal_line_read_dropped(json_t *line, uint64_t *slice)
{
    return read_number(line, "slice", slice);
}
