/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/journal.h"
#include "launcher/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define VERSION   1
#define OUTPUT    49152u /* bytes in one line, 64 KiB in base64 */
#define VARIANT   sodium_base64_VARIANT_ORIGINAL
#define BASE64    (OUTPUT / 3 * 4 + 1)
#define SUM_BYTES 27 /* of the end of a line: ,"sum":"16 digits"} and \n */

static const char output_head[] = "{\"type\":\"output\",\"data\":\"";
static const char mend_path[] = "name a file that you may write";

struct journal {
    const char *path;
    int fd;
    int64_t end; /* of what is whole */
    struct kept *kept;
    size_t n_kept, kept_room;
    struct queued *queued;
    size_t n_queued, queued_room;
};

static int no_memory(struct es_error *err)
{
    return es_fail(err, ES_ENV, "free some memory", "out of memory");
}

/* --- writing -------------------------------------------------------------- */

static int full(struct journal *j, struct es_error *err)
{
    int why = errno;

    (void)!ftruncate(j->fd, j->end); /* else its torn end is cut off later */
    return es_fail(err, ES_WORK, "free some space, then --resume goes on",
                   "--journal: %s: %s", j->path, strerror(why));
}

/* Write a line that ends with a brace, and its sum; at is moved on.  Returns
 * -1 with errno. */
static int put_line(struct journal *j, const char *line, int64_t *at)
{
    size_t len = strlen(line) - 1; /* without the brace */
    char sum[SUM_BYTES + 1];

    snprintf(sum, sizeof sum, ",\"sum\":\"%016jx\"}\n",
             (uintmax_t)XXH3_64bits(line, len));
    if (lseek(j->fd, *at, SEEK_SET) < 0 || write_all(j->fd, line, len) < 0
        || write_all(j->fd, sum, SUM_BYTES) < 0)
        return -1;
    *at += (int64_t)len + SUM_BYTES;
    return 0;
}

/* Likewise an object, which is taken over and may be NULL. */
static int put_object(struct journal *j, json_t *object, int64_t *at)
{
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    int rc = -1;

    json_decref(object);
    errno = ENOMEM;
    if (line)
        rc = put_line(j, line, at);
    free(line);
    return rc;
}

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
        if (put_line(j, line, at) < 0)
            return -1;
        done += n;
    }
    return 0;
}

int journal_add_slice(struct journal *j,
                      uint64_t frame,
                      const char *node,
                      struct piece *p,
                      struct es_error *err)
{
    int64_t at = j->end;
    json_t *slice =
        json_pack("{s:s, s:I, s:s, s:I, s:I, s:f, s:i, s:i, s:I}", "type",
                  "slice", "frame", (json_int_t)frame, "node", node, "begin",
                  (json_int_t)p->slice.begin, "end", (json_int_t)p->slice.end,
                  "seconds", p->seconds, "attempt", (int)p->attempt, "status",
                  p->status, "bytes", (json_int_t)spool_size(&p->out));

    if (put_output(j, &p->out, &at) < 0) {
        json_decref(slice);
        return full(j, err);
    }
    if (put_object(j, slice, &at) < 0 || fdatasync(j->fd) < 0)
        return full(j, err);
    j->end = at;
    return 0;
}

int journal_add_queued(struct journal *j,
                       const struct queued *q,
                       struct es_error *err)
{
    int64_t at = j->end;
    const struct frame *f = &q->frame;

    if (put_object(j,
                   json_pack("{s:s, s:I, s:I, s:I, s:s, s:I}", "type", "queued",
                             "frame", (json_int_t)f->number, "begin",
                             (json_int_t)f->begin, "end", (json_int_t)f->end,
                             "label", f->label, "source",
                             (json_int_t)q->source),
                   &at)
        < 0)
        return full(j, err);
    j->end = at;
    return 0;
}

/* --- reading -------------------------------------------------------------- */

/* Has a line of len bytes, with its end, the sum that it says? */
static int is_whole(const char *line, size_t len)
{
    char sum[SUM_BYTES + 1];

    if (len <= SUM_BYTES)
        return 0;
    snprintf(sum, sizeof sum, ",\"sum\":\"%016jx\"}\n",
             (uintmax_t)XXH3_64bits(line, len - SUM_BYTES));
    return memcmp(line + len - SUM_BYTES, sum, SUM_BYTES) == 0;
}

static int is_output(const char *line)
{
    return strncmp(line, output_head, sizeof output_head - 1) == 0;
}

static void *room_for_one(void *array, size_t n, size_t *room, size_t size)
{
    size_t more = *room * 2 + 64;
    void *grown;

    if (n < *room)
        return array;
    grown = reallocarray(array, more, size);
    if (grown)
        *room = more;
    return grown;
}

/* What one line says; output_at is where the output before it begins.  1 if it
 * is nothing that we know; -1: no memory. */
static int take_slice(struct journal *j, json_t *line, int64_t output_at)
{
    json_int_t frame, begin, end, bytes;
    struct kept *kept;

    if (json_unpack(line, "{s:I, s:I, s:I, s:I}", "frame", &frame, "begin",
                    &begin, "end", &end, "bytes", &bytes)
        < 0)
        return 1;
    kept = room_for_one(j->kept, j->n_kept, &j->kept_room, sizeof *j->kept);
    if (!kept)
        return -1;
    j->kept = kept;
    kept[j->n_kept++] = (struct kept){(uint64_t)frame,
                                      {(uint64_t)begin, (uint64_t)end},
                                      (uint64_t)bytes,
                                      output_at};
    return 0;
}

static int take_queued(struct journal *j, json_t *line)
{
    json_int_t frame, begin, end, source;
    const char *label;
    struct queued *queued;

    if (json_unpack(line, "{s:I, s:I, s:I, s:s, s:I}", "frame", &frame, "begin",
                    &begin, "end", &end, "label", &label, "source", &source)
            < 0
        || strlen(label) >= LABEL_MAX || (size_t)frame != j->n_queued)
        return 1;
    queued =
        room_for_one(j->queued, j->n_queued, &j->queued_room, sizeof *queued);
    if (!queued)
        return -1;
    j->queued = queued;
    queued += j->n_queued++;
    *queued = (struct queued){.source = (size_t)source};
    queued->frame.number = (uint64_t)frame;
    queued->frame.begin = (uint64_t)begin;
    queued->frame.end = (uint64_t)end;
    snprintf(queued->frame.label, LABEL_MAX, "%s", label);
    return 0;
}

static int take_line(struct journal *j, const char *text, int64_t output_at)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *type = json_string_value(json_object_get(line, "type"));
    int rc = 1;

    if (type && strcmp(type, "slice") == 0)
        rc = take_slice(j, line, output_at);
    else if (type && strcmp(type, "queued") == 0)
        rc = take_queued(j, line);
    json_decref(line);
    return rc;
}

/* Everything behind the first line that is whole. */
static int read_lines(struct journal *j, FILE *file, struct es_error *err)
{
    int64_t at = j->end, output_at = j->end;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int rc = 0;

    while (rc == 0 && (len = getline(&line, &room, file)) > 0
           && is_whole(line, (size_t)len)) {
        at += len;
        if (is_output(line))
            continue;
        rc = take_line(j, line, output_at);
        if (rc == 0)
            j->end = output_at = at;
    }
    free(line);
    return rc < 0 ? no_memory(err) : 0;
}

static int by_frame(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return (x->units.begin > y->units.begin)
           - (x->units.begin < y->units.begin);
}

/* Slices that overlap are of no run of ours. */
static int check_slices(const struct journal *j, struct es_error *err)
{
    for (size_t i = 1; i < j->n_kept; i++)
        if (j->kept[i].frame == j->kept[i - 1].frame
            && j->kept[i].units.begin < j->kept[i - 1].units.end)
            return es_fail(err, ES_USAGE, "name another file",
                           "--journal: %s: has units twice", j->path);
    return 0;
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

static json_t *describe(const char *work, char *const command[])
{
    json_t *words = json_array();

    for (size_t i = 0; words && command[i]; i++)
        if (json_array_append_new(words, word_json(command[i])) < 0) {
            json_decref(words);
            words = NULL;
        }
    return json_pack("{s:s, s:i, s:s, s:o}", "type", "journal", "version",
                     VERSION, "work", work, "command", words);
}

static int refuse(const struct journal *j,
                  const char *what,
                  const char *theirs,
                  struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "give what it was begun with, or another file",
                   "--journal: %s: is of another %s%s%.200s", j->path, what,
                   theirs[0] ? ": " : "", theirs);
}

/* Is the first line of what we want to do? */
static int compare(const struct journal *j,
                   json_t *theirs,
                   json_t *ours,
                   struct es_error *err)
{
    const char *work = json_string_value(json_object_get(theirs, "work"));
    char *words;
    int rc = 0;

    if (!json_equal(json_object_get(theirs, "version"),
                    json_object_get(ours, "version"))
        || !work)
        return refuse(j, "version", "", err);
    if (!json_equal(json_object_get(theirs, "work"),
                    json_object_get(ours, "work")))
        return refuse(j, "work", work, err);
    words = json_dumps(json_object_get(theirs, "command"), JSON_COMPACT);
    if (!json_equal(json_object_get(theirs, "command"),
                    json_object_get(ours, "command")))
        rc = refuse(j, "command", words ? words : "", err);
    free(words);
    return rc;
}

static int no_journal(const struct journal *j, struct es_error *err)
{
    return es_fail(err, ES_USAGE, "name another file",
                   "--journal: %s: is no journal of evenstep", j->path);
}

static int read_head(struct journal *j,
                     FILE *file,
                     json_t *ours,
                     struct es_error *err)
{
    static const char head[] = "{\"type\":\"journal\",";
    char *line = NULL, first[sizeof head] = "";
    size_t room = 0;
    ssize_t len;
    json_t *theirs;
    int rc = -1;

    if (pread(j->fd, first, sizeof head - 1, 0) < 0 || strcmp(first, head) != 0)
        return no_journal(j, err);
    len = getline(&line, &room, file);
    theirs = len > 0 && is_whole(line, (size_t)len) ? json_loads(line, 0, NULL)
                                                    : NULL;
    if (theirs)
        rc = compare(j, theirs, ours, err);
    else
        no_journal(j, err);
    if (rc == 0)
        j->end = len;
    json_decref(theirs);
    free(line);
    return rc;
}

/* --- opening -------------------------------------------------------------- */

static int read_all(struct journal *j, json_t *ours, struct es_error *err)
{
    int fd = dup(j->fd), rc = -1;
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    struct stat st;

    if (!file || fstat(j->fd, &st) < 0) {
        es_fail(err, ES_ENV, mend_path, "--journal: %s: %s", j->path,
                strerror(errno));
        goto done;
    }
    if (read_head(j, file, ours, err) < 0 || read_lines(j, file, err) < 0)
        goto done;
    if (j->n_kept > 0)
        qsort(j->kept, j->n_kept, sizeof *j->kept, by_frame);
    if (check_slices(j, err) < 0)
        goto done;
    if (st.st_size > j->end)
        notice("%s: its last %jd bytes are torn, and not used", j->path,
               (intmax_t)(st.st_size - j->end));
    rc = ftruncate(j->fd, j->end) < 0 ? full(j, err) : 0;
done:
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return rc;
}

/* The name itself is on the disk, too, not only the bytes. */
static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    int fd, rc;

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    rc = fsync(fd);
    close(fd);
    return rc;
}

static int begin_new(struct journal *j, json_t *ours, struct es_error *err)
{
    int64_t at = 0;

    if (put_object(j, json_incref(ours), &at) < 0 || fdatasync(j->fd) < 0
        || sync_folder(j->path) < 0)
        return full(j, err);
    j->end = at;
    return 0;
}

static int start(struct journal *j,
                 json_t *ours,
                 int resume,
                 struct es_error *err)
{
    struct stat st;

    if (!ours)
        return no_memory(err);
    j->fd = open(j->path,
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    if (j->fd < 0 || fstat(j->fd, &st) < 0)
        return es_fail(err, ES_USAGE, mend_path, "--journal: %s: %s", j->path,
                       strerror(errno));
    if (!S_ISREG(st.st_mode))
        return es_fail(err, ES_USAGE, mend_path,
                       "--journal: %s: is no regular file", j->path);
    if (flock(j->fd, LOCK_EX | LOCK_NB) < 0)
        return es_fail(err, ES_USAGE, "wait for it, or name another file",
                       "--journal: %s: another run is at it", j->path);
    if (st.st_size > 0 && !resume)
        return es_fail(err, ES_USAGE,
                       "give --resume to go on with it, or another file",
                       "--journal: %s: is there already", j->path);
    return st.st_size > 0 ? read_all(j, ours, err) : begin_new(j, ours, err);
}

int journal_open(struct journal **j,
                 const char *path,
                 const char *work,
                 char *const command[],
                 int resume,
                 struct es_error *err)
{
    struct journal *new = calloc(1, sizeof *new);
    json_t *ours;
    int rc;

    if (!new)
        return no_memory(err);
    new->path = path;
    new->fd = -1;
    ours = describe(work, command);
    rc = start(new, ours, resume, err);
    json_decref(ours);
    if (rc < 0)
        journal_close(new);
    else
        *j = new;
    return rc;
}

void journal_close(struct journal *j)
{
    int saved = errno;

    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd); /* all that counts was synced */
    free(j->kept);
    free(j->queued);
    free(j);
    errno = saved;
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
    char line[sizeof output_head + BASE64 + SUM_BYTES];
    ssize_t n = pread(j->fd, line, sizeof line - 1, *at);
    char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
    const char *data = line + sizeof output_head - 1, *stop;
    size_t len;

    if (n < 0)
        return -1;
    errno = EBADMSG;
    if (!end || !is_whole(line, (size_t)(end + 1 - line)) || !is_output(line))
        return -1;
    stop = memchr(data, '"', (size_t)(end - data));
    if (!stop
        || sodium_base642bin(out, OUTPUT, data, (size_t)(stop - data), NULL,
                             &len, NULL, VARIANT)
               < 0)
        return -1;
    *at += end + 1 - line;
    return (ssize_t)len;
}

int journal_write_output(const struct journal *j, const struct kept *k, int fd)
{
    unsigned char out[OUTPUT];
    int64_t at = k->at;

    for (uint64_t done = 0; done < k->bytes;) {
        ssize_t n = read_output(j, &at, out);

        if (n < 0 || write_all(fd, out, (size_t)n) < 0)
            return -1;
        done += (uint64_t)n;
    }
    return 0;
}
