/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/journal.h"
#include "launcher/base/json_member.h"
#include "launcher/base/record_log.h"
#include "launcher/run/kept.h"
#include "launcher/run/label_json.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define OUTPUT  49152u /* bytes in one line, 64 KiB in base64 */
#define VARIANT sodium_base64_VARIANT_ORIGINAL
#define BASE64  (OUTPUT / 3 * 4 + 1)

static const char output_head[] = "{\"type\":\"output\",\"data\":\"";

struct journal {
    struct record_log log;
    struct kept *kept;
    size_t n_kept, kept_room;
    struct failure *failure;
    size_t n_failures, failures_room;
    struct queued *queued;
    size_t n_queued, queued_room;
};

/* --- writing -------------------------------------------------------------- */

static int put_output(struct journal *j, const struct spool *out, int64_t *at)
{
    uint64_t size = spool_size(out);
    unsigned char bytes[OUTPUT];
    char line[sizeof output_head + BASE64 + 2];
    char *data = line + sizeof output_head - 1;

    memcpy(line, output_head, sizeof output_head);
    for (uint64_t done = 0; done < size;) {
        size_t n = size - done < OUTPUT ? (size_t)(size - done) : OUTPUT;

        if (spool_read(out, done, bytes, n) < 0)
            return -1;
        sodium_bin2base64(data, BASE64, bytes, n, VARIANT);
        memcpy(data + strlen(data), "\"}", 3);
        if (record_log_put(&j->log, line, at) < 0)
            return -1;
        done += n;
    }
    return 0;
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

    return p->has_text ? json_member(piece, "text",
                                     json_sprintf("%016jx", (uintmax_t)p->text))
                       : piece;
}

int journal_add_slice(struct journal *j,
                      uint64_t frame,
                      const char *node,
                      struct piece *p,
                      struct es_error *err)
{
    int64_t at = j->log.end;
    json_t *slice = json_member(piece_json("slice", frame, node, p), "bytes",
                                json_integer((json_int_t)spool_size(&p->out)));

    if (p->status != 0)
        slice = json_member(slice, "ok", json_true());
    if (put_output(j, &p->out, &at) < 0) {
        json_decref(slice);
        return record_log_full(&j->log, err);
    }
    if (record_log_put_object(&j->log, slice, &at) < 0)
        return record_log_full(&j->log, err);
    return record_log_commit(&j->log, at, 1, err);
}

int journal_add_failed(struct journal *j,
                       uint64_t frame,
                       const char *node,
                       const struct piece *p,
                       struct es_error *err)
{
    int64_t at = j->log.end;
    json_t *failed = json_member(piece_json("failed", frame, node, p), "signal",
                                 json_integer(p->signal));

    if (p->status == 0)
        failed = json_member(failed, "ok", json_false());
    if (record_log_put_object(&j->log, failed, &at) < 0)
        return record_log_full(&j->log, err);
    return record_log_commit(&j->log, at, 0, err);
}

int journal_add_queued(struct journal *j,
                       const struct queued *q,
                       struct es_error *err)
{
    int64_t at = j->log.end;
    const struct frame *f = &q->frame;

    if (record_log_put_object(
            &j->log,
            json_pack("{s:s, s:I, s:I, s:I, s:o, s:I, s:s*}", "type", "queued",
                      "frame", (json_int_t)f->number, "begin",
                      (json_int_t)f->begin, "end", (json_int_t)f->end, "label",
                      label_to_json(f->label), "source", (json_int_t)q->source,
                      "work", f->work[0] ? f->work : NULL),
            &at)
        < 0)
        return record_log_full(&j->log, err);
    return record_log_commit(&j->log, at, 0, err);
}

/* --- reading -------------------------------------------------------------- */

static int is_output(const char *line)
{
    return strncmp(line, output_head, sizeof output_head - 1) == 0;
}

static int are_units(json_int_t begin, json_int_t end)
{
    return begin >= 0 && begin < end;
}

/* "text" of a slice, if it has one.  0, or -1 if it is none. */
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

static enum record_verdict add_kept(struct journal *j,
                                    const struct kept *k,
                                    struct es_error *err)
{
    struct kept *kept = array_grow(j->kept, &j->kept_room, j->n_kept + 1,
                                   sizeof *kept, SIZE_MAX);

    if (!kept) {
        es_no_memory(err);
        return RECORD_FAILED;
    }
    j->kept = kept;
    kept[j->n_kept] = *k;
    kept[j->n_kept].line = j->n_kept;
    j->n_kept++;
    return RECORD_KEPT;
}

/* The frame, the units and the text of a line.  0, or -1. */
static int take_units(struct kept *k, json_t *line)
{
    json_int_t frame, begin, end;

    if (json_unpack(line, "{s:I, s:I, s:I}", "frame", &frame, "begin", &begin,
                    "end", &end)
            < 0
        || !are_units(begin, end) || frame < 0)
        return -1;
    k->frame = (uint64_t)frame;
    k->units = (struct slice){(uint64_t)begin, (uint64_t)end};
    return take_text(k, line);
}

/* What one line says. */
static enum record_verdict take_slice(struct journal *j,
                                      json_t *line,
                                      struct kept *k,
                                      struct es_error *err)
{
    json_int_t bytes;

    if (take_units(k, line) < 0
        || json_unpack(line, "{s:I}", "bytes", &bytes) < 0 || bytes < 0)
        return RECORD_UNKNOWN;
    k->bytes = (uint64_t)bytes;
    return add_kept(j, k, err);
}

static enum record_verdict take_failed(struct journal *j,
                                       json_t *line,
                                       struct kept *k,
                                       struct es_error *err)
{
    struct failure *f;
    const char *node;
    int status, signal;

    if (take_units(k, line) < 0
        || json_unpack(line, "{s:s, s:i, s:i}", "node", &node, "status",
                       &status, "signal", &signal)
               < 0)
        return RECORD_UNKNOWN;
    f = array_grow(j->failure, &j->failures_room, j->n_failures + 1, sizeof *f,
                   SIZE_MAX);
    if (!f) {
        es_no_memory(err);
        return RECORD_FAILED;
    }
    j->failure = f;
    f += j->n_failures++;
    *f = (struct failure){.frame = k->frame, .units = k->units};
    snprintf(f->node, sizeof f->node, "%s", node);
    snprintf(f->how, sizeof f->how, "%s %d in a run before",
             signal ? "was killed by signal" : "exited with status",
             signal ? signal : status);
    k->failed = j->n_failures;
    return add_kept(j, k, err);
}

static enum record_verdict take_queued(struct journal *j,
                                       json_t *line,
                                       struct es_error *err)
{
    json_int_t frame, begin, end, source;
    const char *work = "";
    char label[LABEL_MAX];
    struct queued *queued;

    if (json_unpack(line, "{s:I, s:I, s:I, s:I, s?s}", "frame", &frame, "begin",
                    &begin, "end", &end, "source", &source, "work", &work)
            < 0
        || label_from_json(label, json_object_get(line, "label")) < 0
        || strlen(work) >= WORK_NAME_MAX || !are_units(begin, end) || source < 0
        || (size_t)frame != j->n_queued)
        return RECORD_UNKNOWN;
    queued = array_grow(j->queued, &j->queued_room, j->n_queued + 1,
                        sizeof *queued, SIZE_MAX);
    if (!queued) {
        es_no_memory(err);
        return RECORD_FAILED;
    }
    j->queued = queued;
    queued += j->n_queued++;
    *queued = (struct queued){.source = (size_t)source};
    queued->frame.number = (uint64_t)frame;
    queued->frame.begin = (uint64_t)begin;
    queued->frame.end = (uint64_t)end;
    snprintf(queued->frame.label, LABEL_MAX, "%s", label);
    snprintf(queued->frame.work, WORK_NAME_MAX, "%s", work);
    return RECORD_KEPT;
}

/* --- the first line ------------------------------------------------------- */

/* A word as it is or, where JSON cannot hold it, as its hash. */
static json_t *word_json(const char *word)
{
    json_t *text = json_string(word);

    return text ? text
                : json_sprintf("xxh3 %016jx",
                               (uintmax_t)XXH3_64bits(word, strlen(word)));
}

static json_t *describe(const struct journal_work *work)
{
    json_t *words = json_array();

    for (size_t i = 0; words && work->command[i]; i++)
        if (json_array_append_new(words, word_json(work->command[i])) < 0) {
            json_decref(words);
            words = NULL;
        }
    return json_pack("{s:s, s:i, s:o, s:o, s:s*}", "type", "journal", "version",
                     JOURNAL_VERSION, "work", word_json(work->work), "command",
                     words, "text", work->text);
}

static int refuse(const struct journal *j,
                  const char *what,
                  const char *theirs,
                  struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "give what it was begun with, or another file",
                   "--journal: %s: is of another %s%s%.200s", j->log.path, what,
                   theirs[0] ? ": " : "", theirs);
}

/* Who reads it names both numbers, as of everything else of another version. */
static int refuse_version(const struct journal *j,
                          json_int_t version,
                          struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "resume with that evenstep, or give another file",
                   "--journal: %s: is of version %" JSON_INTEGER_FORMAT
                   ", of a later evenstep; this one reads up to %d",
                   j->log.path, version, JOURNAL_VERSION);
}

struct reading {
    struct journal *journal;
    const struct journal_work *work;
    json_t *ours;      /* the first line, as it is to be */
    int64_t output_at; /* where the output of the next slice begins; 0: here */
    int is_same;       /* the text is as it is now */
};

static int is_text(const json_t *value, const char *text)
{
    const char *theirs = json_string_value(value);

    return theirs && text ? strcmp(theirs, text) == 0 : !theirs && !text;
}

/* Has the first line what that of any version has? */
static int is_head(const json_t *theirs)
{
    return json_integer_value(json_object_get(theirs, "version")) > 0
           && json_is_string(json_object_get(theirs, "work"));
}

/* Is the first line of what we want to do? */
static int compare(struct reading *r, json_t *theirs, struct es_error *err)
{
    const struct journal *j = r->journal;
    const char *work = json_string_value(json_object_get(theirs, "work"));
    json_int_t version = json_integer_value(json_object_get(theirs, "version"));
    const char *ours =
        version == 1 && r->work->version1
            ? r->work->version1
            : json_string_value(json_object_get(r->ours, "work"));
    char *words;
    int rc = 0;

    if (version > JOURNAL_VERSION)
        return refuse_version(j, version, err);
    if (strcmp(work, ours) != 0)
        return refuse(j, "work", work, err);
    r->is_same =
        version == 1 || is_text(json_object_get(theirs, "text"), r->work->text);
    words = json_dumps(json_object_get(theirs, "command"), JSON_COMPACT);
    if (!json_equal(json_object_get(theirs, "command"),
                    json_object_get(r->ours, "command")))
        rc = refuse(j, "command", words ? words : "", err);
    free(words);
    return rc;
}

/* --- opening -------------------------------------------------------------- */

static enum record_verdict take_head(struct reading *r,
                                     const char *text,
                                     struct es_error *err)
{
    json_t *theirs = json_loads(text, 0, NULL);
    const char *type = json_string_value(json_object_get(theirs, "type"));
    enum record_verdict v = RECORD_UNKNOWN;

    if (type && strcmp(type, "journal") == 0 && is_head(theirs))
        v = compare(r, theirs, err) < 0 ? RECORD_FAILED : RECORD_KEPT;
    json_decref(theirs);
    return v;
}

static enum record_verdict take_line(struct reading *r,
                                     const char *text,
                                     int64_t output_at,
                                     struct es_error *err)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *type = json_string_value(json_object_get(line, "type"));
    struct kept k = {.at = output_at, .is_same = r->is_same};
    enum record_verdict v = RECORD_UNKNOWN;

    if (type && strcmp(type, "slice") == 0) {
        v = take_slice(r->journal, line, &k, err);
    } else if (type && strcmp(type, "failed") == 0) {
        v = take_failed(r->journal, line, &k, err);
    } else if (type && strcmp(type, "queued") == 0) {
        v = take_queued(r->journal, line, err);
    } else if (type && strcmp(type, "text") == 0) {
        r->is_same = is_text(json_object_get(line, "text"), r->work->text);
        v = RECORD_KEPT;
    }
    json_decref(line);
    return v;
}

static enum record_verdict on_line(void *arg,
                                   const char *line,
                                   int64_t at,
                                   struct es_error *err)
{
    struct reading *r = arg;
    int64_t output_at = r->output_at > 0 ? r->output_at : at;

    if (at == 0)
        return take_head(r, line, err);
    r->output_at = is_output(line) ? output_at : 0;
    return r->output_at > 0 ? RECORD_PART : take_line(r, line, output_at, err);
}

/* Of slices whose text may have changed, those whose own is still the same
 * stay. */
static int drop_changed(struct journal *j,
                        const struct journal_work *work,
                        struct es_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_kept; i++) {
        const struct kept *k = &j->kept[i];
        int same = k->is_same;

        if (!same && k->has_text && work->is_same)
            same = work->is_same(work->arg, k->units, k->text, err);
        if (same < 0)
            return -1;
        if (same)
            j->kept[n++] = *k;
    }
    j->n_kept = n;
    return 0;
}

static void drop_failed(struct journal *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_kept; i++)
        if (j->kept[i].failed == 0)
            j->kept[n++] = j->kept[i];
    j->n_kept = n;
}

static int read_all(struct reading *r,
                    enum journal_resume resume,
                    struct es_error *err)
{
    struct journal *j = r->journal;

    if (record_log_read(&j->log, on_line, r, err) < 0
        || drop_changed(j, r->work, err) < 0)
        return -1;
    switch (kept_settle(j->kept, &j->n_kept)) {
    case KEPT_NO_MEMORY:
        return es_no_memory(err);
    case KEPT_TWICE:
        return es_fail(err, ES_USAGE, "name another file",
                       "--journal: %s: has units twice", j->log.path);
    case KEPT_SETTLED:
        break;
    }
    if (resume == JOURNAL_REDO_FAILED)
        drop_failed(j);
    return r->is_same ? 0
                      : record_log_add(&j->log,
                                       json_pack("{s:s, s:s}", "type", "text",
                                                 "text", r->work->text),
                                       err);
}

static int start(struct reading *r,
                 const char *path,
                 enum journal_resume resume,
                 struct es_error *err)
{
    struct record_log *log = &r->journal->log;
    int rc;

    if (!r->ours)
        return es_no_memory(err);
    rc = record_log_open(log, path, resume != JOURNAL_NEW, err);
    if (rc > 0)
        return read_all(r, resume, err);
    return rc < 0 ? -1 : record_log_add(log, json_incref(r->ours), err);
}

int journal_open(struct journal **j,
                 const char *path,
                 const struct journal_work *work,
                 enum journal_resume resume,
                 struct es_error *err)
{
    struct journal *new = calloc(1, sizeof *new);
    struct reading r = {.journal = new, .work = work, .is_same = 1};
    int rc;

    if (!new)
        return es_no_memory(err);
    new->log.fd = -1;
    r.ours = describe(work);
    rc = start(&r, path, resume, err);
    json_decref(r.ours);
    if (rc < 0)
        journal_close(new);
    else
        *j = new;
    return rc;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    record_log_close(&j->log);
    free(j->kept);
    free(j->failure);
    free(j->queued);
    free(j);
}

/* --- what is in it -------------------------------------------------------- */

const struct kept *journal_kept(const struct journal *j,
                                uint64_t frame,
                                size_t *n)
{
    size_t low = 0, high = j ? j->n_kept : 0, end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (j->kept[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; j && end < j->n_kept && j->kept[end].frame == frame; end++)
        ;
    *n = end - low;
    return *n > 0 ? j->kept + low : NULL;
}

const struct failure *journal_failure(const struct journal *j,
                                      const struct kept *k)
{
    return &j->failure[k->failed - 1];
}

const struct queued *journal_queued(const struct journal *j, size_t *n)
{
    *n = j ? j->n_queued : 0;
    return *n > 0 ? j->queued : NULL;
}

/* One line of output, whole, from *at on; its bytes in out.  -1 with errno. */
static ssize_t read_output(const struct journal *j,
                           int64_t *at,
                           unsigned char out[OUTPUT])
{
    char line[sizeof output_head + BASE64 + RECORD_SUM_BYTES];
    ssize_t n = pread(j->log.fd, line, sizeof line - 1, *at);
    char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
    const char *data = line + sizeof output_head - 1, *stop;
    size_t len;

    if (n < 0)
        return -1;
    if (end && record_is_whole(line, (size_t)(end + 1 - line))
        && is_output(line)) {
        stop = memchr(data, '"', (size_t)(end - data));
        if (stop
            && sodium_base642bin(out, OUTPUT, data, (size_t)(stop - data), NULL,
                                 &len, NULL, VARIANT)
                   == 0) {
            *at += end + 1 - line;
            return (ssize_t)len;
        }
    }
    errno = EBADMSG; /* libsodium has one of its own */
    return -1;
}

int journal_write_output(const struct journal *j, const struct kept *k, int fd)
{
    unsigned char out[OUTPUT];
    int64_t at = k->at;

    for (uint64_t done = 0; done < k->bytes;) {
        ssize_t n = read_output(j, &at, out);

        if (n > 0 && (uint64_t)n > k->bytes - done) {
            errno = EBADMSG;
            return -1;
        }
        if (n < 0 || write_all(fd, out, (size_t)n) < 0)
            return -1;
        done += (uint64_t)n;
    }
    return 0;
}
