/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/journal.h"
#include "launcher/base/record_log.h"
#include "launcher/base/spool.h"
#include "launcher/run/journal_line.h"
#include "launcher/run/journal_tasks.h"
#include "launcher/run/kept.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- journal output ------------------------------------------------------------ */

/* What a slice has printed, as lines of a journal before the
 * slice's own: journal.h has their form. */

struct output_part {
    int64_t at;     /* where the lines begin */
    uint64_t whole; /* bytes that they have: of a slice, or of what was one */
    uint64_t skip, bytes; /* these of them, behind so many */
};

#define OUTPUT  49152u /* bytes in one line, 64 KiB in base64 */
#define VARIANT sodium_base64_VARIANT_ORIGINAL
#define BASE64  (OUTPUT / 3 * 4 + 1)

static const char output_head[] = "{\"type\":\"output\",\"data\":\"";

static int journal_output_is(const char *line)
{
    return strncmp(line, output_head, sizeof output_head - 1) == 0;
}

/* Put all of it, as record_log_put() does. */
static int journal_output_put(struct record_log *l,
                              const struct spool *out,
                              int64_t *at)
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
        if (record_log_put(l, line, at) < 0)
            return -1;
        done += n;
    }
    return 0;
}

/* --- reading -------------------------------------------------------------- */

/* One line of output, whole, from *at on; its bytes in out.  -1 with errno. */
static ssize_t read_output(const struct record_log *l,
                           int64_t *at,
                           unsigned char out[OUTPUT])
{
    char line[sizeof output_head + BASE64 + RECORD_SUM_BYTES];
    ssize_t n = pread(l->fd, line, sizeof line - 1, *at);
    char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
    const char *data = line + sizeof output_head - 1, *stop;
    size_t len;

    if (n < 0)
        return -1;
    if (end && record_is_whole(line, (size_t)(end + 1 - line))
        && journal_output_is(line)) {
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

/* What is to be done with some bytes of a slice's output, which come one after the
 * other: 0, or what ends it. */
typedef int (*output_fn)(int fd, const unsigned char *bytes, size_t n);

static int for_output(const struct record_log *l,
                      const struct output_part *part,
                      int fd,
                      output_fn fn)
{
    uint64_t end = part->skip + part->bytes;
    unsigned char out[OUTPUT];
    int64_t at = part->at;
    int rc = 0;

    for (uint64_t done = 0; done < end && part->bytes > 0 && rc == 0;) {
        ssize_t n = read_output(l, &at, out);
        uint64_t from = part->skip > done ? part->skip - done : 0;
        uint64_t to = end - done;

        if (n > 0 && (uint64_t)n > part->whole - done) {
            errno = EBADMSG;
            return -1;
        }
        if (n < 0)
            return -1;
        if (to > (uint64_t)n)
            to = (uint64_t)n;
        if (from < to)
            rc = fn(fd, out + from, (size_t)(to - from));
        done += (uint64_t)n;
    }
    return rc;
}

static int write_bytes(int fd, const unsigned char *bytes, size_t n)
{
    return write_all(fd, bytes, n);
}

/* Write these bytes to fd.  0, or -1 with errno (EBADMSG:
 * the log was changed meanwhile). */
static int journal_output_write(const struct record_log *l,
                                const struct output_part *part,
                                int fd)
{
    return for_output(l, part, fd, write_bytes);
}

/* 1: the file has others. */
static int compare_bytes(int fd, const unsigned char *bytes, size_t n)
{
    unsigned char there[4096];

    while (n > 0) {
        ssize_t len = read(fd, there, n < sizeof there ? n : sizeof there);

        if (len < 0)
            return -1;
        if (len == 0 || memcmp(there, bytes, (size_t)len) != 0)
            return 1;
        bytes += len;
        n -= (size_t)len;
    }
    return 0;
}

/* Does the file fd hold just these bytes?  1, 0 or -1 with errno. */
static int journal_output_compare(const struct record_log *l,
                                  const struct output_part *part,
                                  int fd)
{
    struct stat st;
    int rc;

    if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return -1;
    if ((uint64_t)st.st_size != part->bytes)
        return 0;
    rc = for_output(l, part, fd, compare_bytes);
    return rc < 0 ? -1 : rc == 0;
}

/* --- journal ------------------------------------------------------------------- */

struct journal {
    struct record_log log;
    struct kept *kept; /* n_kept that count, then those that are gone */
    size_t n_kept, n_all, kept_room;
    struct failure *failure;
    size_t n_failures, failures_room;
    struct queued *queued; /* one a number */
    size_t n_queued, queued_room;
    struct frame *taken; /* all that were queued, also those that were mended */
    size_t n_taken, taken_room;
    struct file_mark *mark;
    size_t n_marks, marks_room;
    struct task_mark
        *task; /* while it is opened: of slices that may have changed */
    size_t n_tasks, tasks_room;
    uint64_t changed; /* tasks that are done anew for that */
    size_t n_written; /* of taken: the file has them */
};

/* --- writing -------------------------------------------------------------- */

int journal_add_slice(struct journal *j,
                      uint64_t frame,
                      const char *node,
                      struct piece *p,
                      struct es_error *err)
{
    int64_t at = j->log.end;

    if (journal_output_put(&j->log, &p->out, &at) < 0
        || record_log_put_object(&j->log, journal_line_slice(frame, node, p),
                                 &at)
               < 0)
        return record_log_full(&j->log, err);
    return record_log_commit(&j->log, at, 1, err);
}

/* One line that a power cut may undo. */
static int add_line(struct journal *j, json_t *line, struct es_error *err)
{
    int64_t at = j->log.end;

    if (record_log_put_object(&j->log, line, &at) < 0)
        return record_log_full(&j->log, err);
    return record_log_commit(&j->log, at, 0, err);
}

int journal_add_failed(struct journal *j,
                       uint64_t frame,
                       const char *node,
                       const struct piece *p,
                       struct es_error *err)
{
    return add_line(j, journal_line_failed(frame, node, p), err);
}

int journal_add_queued(struct journal *j,
                       const struct queued *q,
                       struct es_error *err)
{
    return add_line(j, journal_line_queued(q), err);
}

/* --- reading -------------------------------------------------------------- */

static enum record_verdict no_memory(struct es_error *err)
{
    es_no_memory(err);
    return RECORD_FAILED;
}

static enum record_verdict add_kept(struct journal *j,
                                    const struct kept *k,
                                    struct es_error *err)
{
    struct kept *kept = array_grow(j->kept, &j->kept_room, j->n_kept + 1,
                                   sizeof *kept, SIZE_MAX);

    if (!kept)
        return no_memory(err);
    j->kept = kept;
    kept += j->n_kept;
    *kept = *k;
    kept->line = j->n_kept++;
    if (k->frame < j->n_queued)
        kept->taken = j->queued[k->frame].taken + 1;
    return RECORD_KEPT;
}

/* What it tells of its tasks, if it is to be known. */
static enum record_verdict take_tasks(struct journal *j,
                                      const json_t *line,
                                      struct kept *k,
                                      struct es_error *err)
{
    size_t n = (size_t)(k->units.end - k->units.begin);
    int there = journal_line_has_tasks(line, k);
    struct task_mark *all;

    if (there < 0)
        return RECORD_UNKNOWN;
    if (k->is_same || !there)
        return RECORD_KEPT;
    all = array_grow(j->task, &j->tasks_room, j->n_tasks + n, sizeof *all,
                     SIZE_MAX);
    if (!all)
        return no_memory(err);
    j->task = all;
    if (journal_line_read_tasks(line, k, all + j->n_tasks) < 0)
        return RECORD_UNKNOWN;
    k->tasks = j->n_tasks + 1;
    j->n_tasks += n;
    return RECORD_KEPT;
}

/* What one line says. */
static enum record_verdict take_slice(struct journal *j,
                                      json_t *line,
                                      struct kept *k,
                                      struct es_error *err)
{
    struct file_mark mark[FILES_MAX], *all;
    int n = journal_line_read_marks(line, mark);
    enum record_verdict v;

    if (n < 0 || journal_line_read_slice(line, k) < 0)
        return RECORD_UNKNOWN;
    if (n > 0) {
        all = array_grow(j->mark, &j->marks_room, j->n_marks + (size_t)n,
                         sizeof *all, SIZE_MAX);
        if (!all)
            return no_memory(err);
        j->mark = all;
        memcpy(all + j->n_marks, mark, (size_t)n * sizeof *all);
        k->mark = j->n_marks;
        k->n_marks = (uint32_t)n;
        j->n_marks += (size_t)n;
    }
    v = take_tasks(j, line, k, err);
    return v == RECORD_KEPT ? add_kept(j, k, err) : v;
}

static enum record_verdict take_failed(struct journal *j,
                                       json_t *line,
                                       struct kept *k,
                                       struct es_error *err)
{
    struct failure read, *f;
    enum record_verdict v;

    if (journal_line_read_failed(line, k, &read) < 0)
        return RECORD_UNKNOWN;
    v = take_tasks(j, line, k, err);
    if (v != RECORD_KEPT)
        return v;
    f = array_grow(j->failure, &j->failures_room, j->n_failures + 1, sizeof *f,
                   SIZE_MAX);
    if (!f)
        return no_memory(err);
    j->failure = f;
    f[j->n_failures++] = read;
    k->failed = j->n_failures;
    return add_kept(j, k, err);
}

static enum record_verdict take_dropped(struct journal *j, json_t *line)
{
    uint64_t slice;

    if (journal_line_read_dropped(line, &slice) < 0 || slice >= j->n_kept)
        return RECORD_UNKNOWN;
    j->kept[slice].is_gone = j->kept[slice].is_dropped = 1;
    return RECORD_KEPT;
}

/* That a queue has a frame, as new or as mended: q->taken says which it is. */
static int take_frame(struct journal *j, struct queued *q)
{
    struct frame *taken = array_grow(j->taken, &j->taken_room, j->n_taken + 1,
                                     sizeof *taken, SIZE_MAX);

    if (!taken)
        return -1;
    j->taken = taken;
    taken[j->n_taken] = q->frame;
    q->taken = j->n_taken++;
    return 0;
}

static enum record_verdict take_queued(struct journal *j,
                                       json_t *line,
                                       struct es_error *err)
{
    struct queued read, *queued;

    if (journal_line_read_queued(line, &read) < 0
        || read.frame.number > j->n_queued)
        return RECORD_UNKNOWN;
    queued = array_grow(j->queued, &j->queued_room, j->n_queued + 1,
                        sizeof *queued, SIZE_MAX);
    if (!queued)
        return no_memory(err);
    j->queued = queued;
    if (take_frame(j, &read) < 0)
        return no_memory(err);
    queued[read.frame.number] = read;
    j->n_queued += read.frame.number == j->n_queued;
    return RECORD_KEPT;
}

static enum record_verdict take_gone(struct journal *j, json_t *line)
{
    uint64_t number;

    if (journal_line_read_gone(line, &number) < 0 || number >= j->n_queued)
        return RECORD_UNKNOWN;
    j->queued[number].is_gone = 1;
    return RECORD_KEPT;
}

/* --- the first line ------------------------------------------------------- */

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
    } else if (type && strcmp(type, "gone") == 0) {
        v = take_gone(r->journal, line);
    } else if (type && strcmp(type, "dropped") == 0) {
        v = take_dropped(r->journal, line);
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
    r->output_at = journal_output_is(line) ? output_at : 0;
    return r->output_at > 0 ? RECORD_PART : take_line(r, line, output_at, err);
}

/* Tasks are looked at one by one. */
static int settle_tasks(struct journal *j,
                        const struct journal_work *work,
                        struct es_error *err)
{
    struct journal_tasks t = {.kept = j->kept,
                              .n = j->n_kept,
                              .room = j->kept_room,
                              .mark = j->task,
                              .may_move = work->may_move,
                              .place = work->place,
                              .arg = work->arg};
    uint64_t *sum = NULL;
    int rc;

    if (j->n_tasks == 0 || !work->sums)
        return 0;
    rc = work->sums(work->arg, &sum, &t.units, err);
    t.sum = sum;
    if (rc == 0)
        rc = journal_tasks_settle(&t, err);
    free(sum);
    j->kept = t.kept;
    j->n_kept = t.n;
    j->kept_room = t.room;
    j->changed = t.changed;
    return rc;
}

/* Of slices whose text may have changed, those whose own is still the same
 * stay. */
static int drop_changed(struct journal *j,
                        const struct journal_work *work,
                        struct es_error *err)
{
    for (size_t i = 0; i < j->n_kept; i++) {
        struct kept *k = &j->kept[i];
        int same = k->is_same || k->is_gone;

        if (k->tasks > 0 && work->sums)
            continue;
        if (!same && k->has_text && work->is_same)
            same = work->is_same(work->arg, k->units, k->text, err);
        if (same < 0)
            return -1;
        if (same && work->place)
            same = work->place(work->arg, k->units, &k->frame) == 0;
        k->is_gone |= !same;
    }
    return 0;
}

/* Their frame is gone, or was mended since. */
static void drop_mended(struct journal *j)
{
    for (size_t i = 0; i < j->n_kept; i++) {
        struct kept *k = &j->kept[i];

        if (k->taken > 0)
            k->is_gone |= j->queued[k->frame].is_gone
                          || j->queued[k->frame].taken + 1 != k->taken;
    }
}

static void drop_failed(struct journal *j)
{
    for (size_t i = 0; i < j->n_kept; i++)
        j->kept[i].is_gone |= j->kept[i].failed > 0;
}

static int read_all(struct reading *r,
                    enum journal_resume resume,
                    struct es_error *err)
{
    struct journal *j = r->journal;

    if (record_log_read(&j->log, on_line, r, err) < 0
        || drop_changed(j, r->work, err) < 0
        || settle_tasks(j, r->work, err) < 0)
        return -1;
    drop_mended(j);
    j->n_all = j->n_kept;
    j->n_written = j->n_taken;
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
    j->n_kept = kept_part(j->kept, j->n_all);
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
    r.ours = journal_line_head(JOURNAL_VERSION, work->work, work->command,
                               work->text);
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
    free(j->taken);
    free(j->mark);
    free(j->task);
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

uint64_t journal_changed(const struct journal *j)
{
    return j->changed;
}

const struct kept *journal_counting(const struct journal *j, size_t *n)
{
    *n = j->n_kept;
    return j->kept;
}

const struct kept *journal_gone(const struct journal *j, size_t *n)
{
    *n = j->n_all - j->n_kept;
    return *n > 0 ? j->kept + j->n_kept : NULL;
}

const struct frame *journal_frame(const struct journal *j, const struct kept *k)
{
    return k->taken > 0 ? &j->taken[k->taken - 1] : NULL;
}

const struct file_mark *journal_marks(const struct journal *j,
                                      const struct kept *k)
{
    return k->n_marks > 0 ? &j->mark[k->mark] : NULL;
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

static struct output_part part_of(const struct kept *k)
{
    return (struct output_part){k->at, k->whole, k->skip, k->bytes};
}

int journal_write_output(const struct journal *j, const struct kept *k, int fd)
{
    const struct output_part part = part_of(k);

    return journal_output_write(&j->log, &part, fd);
}

int journal_is_output(const struct journal *j, const struct kept *k, int fd)
{
    const struct output_part part = part_of(k);

    return journal_output_compare(&j->log, &part, fd);
}

/* --- what does not count any more ------------------------------------------ */

int journal_mend(struct journal *j,
                 size_t number,
                 const struct frame *now,
                 struct es_error *err)
{
    struct queued *q = &j->queued[number];

    q->is_gone = !now;
    if (now) {
        q->frame = *now;
        q->frame.number = number;
    }
    return take_frame(j, q) < 0 ? es_no_memory(err) : 0;
}

int journal_mended(struct journal *j, struct es_error *err)
{
    int64_t at = j->log.end;

    if (j->n_taken == j->n_written)
        return 0;
    for (size_t i = 0; i < j->n_queued; i++)
        if (j->queued[i].taken >= j->n_written
            && record_log_put_object(&j->log,
                                     journal_line_queued(&j->queued[i]), &at)
                   < 0)
            return record_log_full(&j->log, err);
    if (record_log_commit(&j->log, at, 1, err) < 0)
        return -1;
    j->n_written = j->n_taken;
    drop_mended(j);
    j->n_kept = kept_part(j->kept, j->n_all);
    return 0;
}

/* It goes, and its line is put at *at; -1 with errno. */
static int put_dropped(struct journal *j, struct kept *k, int64_t *at)
{
    k->is_gone = k->is_dropped = 1;
    return record_log_put_object(&j->log, journal_line_dropped(k), at);
}

static int commit_dropped(struct journal *j, int64_t at, struct es_error *err)
{
    j->n_kept = kept_part(j->kept, j->n_all);
    return at > j->log.end ? record_log_commit(&j->log, at, 1, err) : 0;
}

int journal_drop(struct journal *j,
                 int (*is_lost)(void *arg,
                                const struct kept *k,
                                struct es_error *err),
                 void *arg,
                 struct es_error *err)
{
    int64_t at = j->log.end;
    int rc;

    for (size_t i = 0; i < j->n_kept; i++) {
        rc = j->kept[i].failed ? 0 : is_lost(arg, &j->kept[i], err);
        if (rc < 0)
            return -1;
        if (rc > 0 && put_dropped(j, &j->kept[i], &at) < 0)
            return record_log_full(&j->log, err);
    }
    return commit_dropped(j, at, err);
}

int journal_forget(struct journal *j, struct es_error *err)
{
    int64_t at = j->log.end;

    for (size_t i = j->n_kept; i < j->n_all; i++)
        if (!j->kept[i].failed && !j->kept[i].is_dropped
            && put_dropped(j, &j->kept[i], &at) < 0)
            return record_log_full(&j->log, err);
    return commit_dropped(j, at, err);
}
