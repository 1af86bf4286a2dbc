/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/lines.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/base/text_file.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define BLOCK (64u << 10) /* bytes that are read at a time */
_Static_assert(BLOCK > 4 * RECORD_MARK_MAX, "a block has room for both marks");

static const struct record_rule by_lines;

/* --- reading -------------------------------------------------------------- */

static int has_changed(const struct lines *l,
                       const char *how,
                       struct es_error *err)
{
    return es_fail(err, ES_WORK, "leave it as it is until the run is over",
                   "--lines: %s: %s", l->path, how);
}

static int read_at(const struct lines *l,
                   uint64_t at,
                   void *bytes,
                   size_t len,
                   struct es_error *err)
{
    char *to = bytes;
    ssize_t n;

    for (; len > 0; to += n, at += (uint64_t)n, len -= (size_t)n) {
        n = pread(l->fd, to, len, (off_t)at);
        if (n <= 0)
            return has_changed(l,
                               n < 0 ? strerror(errno)
                                     : "has become shorter since the start",
                               err);
    }
    return 0;
}

static int same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Has nobody written to it since it was opened, as far as its times tell? */
static int is_untouched(const struct lines *l, const struct stat *now)
{
    return now->st_size == l->was.st_size
           && same_time(&now->st_mtim, &l->was.st_mtim)
           && same_time(&now->st_ctim, &l->was.st_ctim);
}

/* Somebody may have: is there what was there, from the block on that has this byte,
 * to that before `to`? */
static int check_blocks(const struct lines *l,
                        uint64_t at,
                        uint64_t to,
                        struct es_error *err)
{
    char *text = malloc(LINES_BLOCK);
    int rc = text ? 0 : es_no_memory(err);

    for (at -= at % LINES_BLOCK; rc == 0 && at < to; at += LINES_BLOCK) {
        uint64_t left = l->size - at;
        size_t n = left < LINES_BLOCK ? (size_t)left : LINES_BLOCK;

        rc = read_at(l, at, text, n, err);
        if (rc == 0 && XXH3_64bits(text, n) != l->sum[at / LINES_BLOCK])
            rc = has_changed(l, "was rewritten since the start", err);
    }
    free(text);
    return rc;
}

int lines_read(const struct lines *l,
               uint64_t at,
               void *bytes,
               size_t len,
               struct es_error *err)
{
    struct stat now;

    if (read_at(l, at, bytes, len, err) < 0)
        return -1;
    if (l->sums == 0 || fstat(l->fd, &now) < 0 || is_untouched(l, &now))
        return 0;
    return check_blocks(l, at, at + len, err);
}

void lines_tell_changes(const struct lines *l)
{
    struct es_error why;
    struct stat now;

    if (l->sums == 0 || l->is_copy || fstat(l->fd, &now) < 0)
        return;
    if (now.st_size > l->was.st_size)
        notice("warning: --lines: %s has grown since the start: what was added "
               "is in no unit of this run; --journal and --resume do it alone",
               l->path);
    else if (!is_untouched(l, &now) && check_blocks(l, 0, l->size, &why) < 0)
        notice("warning: --lines: %s was rewritten since it was read: this run "
               "is of the text that was there at the start",
               l->path);
    else if (stat(l->path, &now) == 0
             && (now.st_ino != l->was.st_ino || now.st_dev != l->was.st_dev))
        notice("warning: --lines: %s was replaced by another file: this run is "
               "of the one that was there at the start",
               l->path);
}

/* --- where units begin ---------------------------------------------------- */

/* A look through the file, from the begin of a unit to those of the next ones.
 * It depends on nothing before that unit, so it may begin at any landmark. */
struct scan {
    const struct lines *l;
    char mark[2 * RECORD_MARK_MAX]; /* between two units: */
    size_t end, len;                /* bytes of the unit before, and in all */
    uint64_t every;                 /* so many of them to a unit */
    uint64_t seen;                  /* of the last unit */
    uint64_t from;                  /* where to look for the next */
    char *block;
    uint64_t at; /* offset of the block */
    size_t n;    /* bytes in it */
    XXH3_state_t *sum, *block_sum;
    uint64_t summed; /* bytes of the file, with a sum */
    struct es_error *err;
};

static void put_mark(struct scan *s, const char *bytes, size_t len)
{
    memcpy(s->mark + s->len, bytes, len);
    s->len += len;
}

static void scan_lines(struct scan *s, uint64_t every)
{
    s->len = 0;
    put_mark(s, "\n", 1);
    s->end = 1;
    s->every = every;
}

static void scan_records(struct scan *s)
{
    const struct record_rule *r = s->l->rule;

    scan_lines(s, r->lines > 0 ? r->lines : 1);
    if (r->end.given) {
        s->len = 0;
        put_mark(s, r->end.bytes, r->end.len);
        s->end = s->len;
    }
    put_mark(s, r->start.bytes, r->start.len);
}

static void scan_from(struct scan *s, uint64_t begin)
{
    s->from = begin + (s->end == 0); /* not this one again */
}

/* All bytes, one after the other: into the sum of all, and of each block. */
static int add_to_sums(struct scan *s, const char *bytes, size_t n)
{
    if (XXH3_64bits_update(s->sum, bytes, n) != XXH_OK)
        return es_no_memory(s->err);
    while (n > 0) {
        size_t left = LINES_BLOCK - (size_t)(s->summed % LINES_BLOCK);
        size_t part = n < left ? n : left;

        if (XXH3_64bits_update(s->block_sum, bytes, part) != XXH_OK)
            return es_no_memory(s->err);
        bytes += part;
        n -= part;
        s->summed += part;
        if (s->summed % LINES_BLOCK != 0 && s->summed != s->l->size)
            continue;
        s->l->sum[(s->summed - 1) / LINES_BLOCK] =
            XXH3_64bits_digest(s->block_sum);
        if (XXH3_64bits_reset(s->block_sum) != XXH_OK)
            return es_no_memory(s->err);
    }
    return 0;
}

/* Read the block in which `from` is; nothing is left out of the sum. */
static int load_block(struct scan *s)
{
    const struct lines *l = s->l;

    s->at = s->sum && s->summed < s->from ? s->summed : s->from;
    if (s->at > l->size)
        s->at = l->size;
    s->n = l->size - s->at < BLOCK ? (size_t)(l->size - s->at) : BLOCK;
    if (lines_read(l, s->at, s->block, s->n, s->err) < 0)
        return -1;
    if (!s->sum || s->at + s->n <= s->summed)
        return 0;
    return add_to_sums(s, s->block + (s->summed - s->at),
                       s->n - (size_t)(s->summed - s->at));
}

/* The next mark: 1, 0 if there is none, or -1. */
static int find_mark(struct scan *s, uint64_t *mark)
{
    for (;;) {
        const char *hit = NULL;
        uint64_t end = s->at + s->n;

        if (s->from < end)
            hit = memmem(s->block + (s->from - s->at), (size_t)(end - s->from),
                         s->mark, s->len);
        if (hit) {
            *mark = s->at + (uint64_t)(hit - s->block);
            return 1;
        }
        if (end == s->l->size && s->n > 0)
            return 0;
        /* It may lie across the end of this block. */
        if (s->n >= s->len && s->from < end - (s->len - 1))
            s->from = end - (s->len - 1);
        if (s->from >= s->l->size && (!s->sum || s->summed == s->l->size))
            return 0;
        if (load_block(s) < 0)
            return -1;
    }
}

/* Where the next unit begins: 1, 0 if this one is the last, or -1. */
static int next_unit(struct scan *s, uint64_t *begin)
{
    uint64_t mark;
    int rc;

    for (s->seen = 0; s->seen < s->every; s->seen++) {
        rc = find_mark(s, &mark);
        if (rc <= 0)
            return rc;
        *begin = mark + s->end;
        scan_from(s, *begin);
    }
    return *begin < s->l->size;
}

/* --- open ----------------------------------------------------------------- */

static int add_unit(struct lines *l, uint64_t at)
{
    size_t n = (size_t)(l->n / LINES_STRIDE);
    uint64_t *landmark;

    if (l->n++ % LINES_STRIDE != 0)
        return 0;
    landmark = array_grow(l->landmark, &l->landmarks, n + 1, sizeof *landmark,
                          SIZE_MAX);
    if (!landmark)
        return -1;
    l->landmark = landmark;
    landmark[n] = at;
    return 0;
}

static int skip_header(struct lines *l, struct scan *s)
{
    int rc;

    s->from = l->header = l->mark;
    if (l->rule->header == 0)
        return 0;
    scan_lines(s, l->rule->header);
    rc = next_unit(s, &l->header);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return es_fail(s->err, ES_USAGE, "give fewer lines",
                   "--header %ju: %s has nothing behind them",
                   (uintmax_t)l->rule->header, l->path);
}

static int refuse_records(const struct lines *l, struct es_error *err)
{
    const struct record_mark *m =
        l->rule->start.given ? &l->rule->start : &l->rule->end;

    return es_fail(err, ES_USAGE, "say what its records begin or end with",
                   "--%s: \"%.*s\" is nowhere in %s, which would be one unit",
                   l->rule->start.given ? "recstart" : "recend",
                   (int)(m->len < 40 ? m->len : 40), m->bytes, l->path);
}

static int has_mark(struct scan *s, uint64_t at, const struct record_mark *m)
{
    char bytes[RECORD_MARK_MAX];

    return s->l->size - at >= m->len
           && lines_read(s->l, at, bytes, m->len, s->err) == 0
           && memcmp(bytes, m->bytes, m->len) == 0;
}

/* Are there records at all? */
static int check_marks(struct lines *l, struct scan *s)
{
    const struct record_rule *r = l->rule;

    if (r->start.given && !has_mark(s, l->header, &r->start)) {
        if (l->n == 1)
            return refuse_records(l, s->err);
        notice("--recstart: %s does not begin with it: what stands before the "
               "first one is a record, too",
               l->path);
    }
    if (r->end.given && !r->start.given && l->n == 1
        && (l->size < r->end.len
            || !has_mark(s, l->size - r->end.len, &r->end)))
        return refuse_records(l, s->err);
    return 0;
}

/* Is there nothing but ends of lines from `at` on? */
static int is_blank(struct scan *s, uint64_t at)
{
    for (char c; at < s->l->size; at++)
        if (lines_read(s->l, at, &c, 1, s->err) < 0 || !strchr("\r\n", c)
            || c == '\0')
            return 0;
    return 1;
}

/* The last unit must have all of its lines; empty ones behind it are its, too.
 */
static int check_last(struct lines *l, struct scan *s, uint64_t begin)
{
    uint64_t lines = s->seen;
    char last;

    if (l->rule->lines == 0 || begin == l->size)
        return 0;
    if (lines_read(l, l->size - 1, &last, 1, s->err) < 0)
        return -1;
    lines += last != '\n';
    if (lines == l->rule->lines)
        return 0;
    if (l->n > 1 && is_blank(s, begin)) {
        l->n--;
        return 0;
    }
    return es_fail(s->err, ES_USAGE, "mend the file, or give another number",
                   "--record %ju: the last record of %s has only %ju lines",
                   (uintmax_t)l->rule->lines, l->path, (uintmax_t)lines);
}

static int find_units(struct lines *l, struct scan *s)
{
    uint64_t begin, last;
    int rc;

    if (skip_header(l, s) < 0)
        return -1;
    scan_records(s);
    begin = l->header;
    scan_from(s, begin);
    do {
        if (add_unit(l, begin) < 0)
            return es_no_memory(s->err);
        last = begin;
    } while ((rc = next_unit(s, &begin)) > 0);
    if (rc < 0 || check_marks(l, s) < 0)
        return -1;
    return check_last(l, s, s->seen == s->every ? begin : last);
}

static int sum_and_find(struct lines *l, struct scan *s)
{
    size_t sums = (size_t)((l->size - 1) / LINES_BLOCK + 1);
    int rc;

    s->block = malloc(BLOCK);
    s->sum = XXH3_createState();
    s->block_sum = XXH3_createState();
    l->sum = calloc(sums, sizeof *l->sum);
    if (!s->block || !s->sum || !s->block_sum || !l->sum
        || XXH3_64bits_reset(s->sum) != XXH_OK
        || XXH3_64bits_reset(s->block_sum) != XXH_OK)
        return es_no_memory(s->err);
    rc = find_units(l, s);
    if (rc == 0) {
        l->hash = XXH3_64bits_digest(s->sum);
        l->sums = sums;
    }
    return rc;
}

static int refuse_file(const char *path, const char *why, struct es_error *err)
{
    return es_fail(err, ES_USAGE, "name a file of lines that you may read",
                   "--lines: %s: %s", path, why);
}

static int refuse_empty(const struct lines *l, struct es_error *err)
{
    return es_fail(err, ES_USAGE, "name a file of lines",
                   "--lines: %s: is empty", l->path);
}

/* A byte order mark is no part of the first line. */
static int pass_mark(struct lines *l, struct es_error *err)
{
    char begin[4];
    size_t n = l->size < sizeof begin ? (size_t)l->size : sizeof begin;

    if (lines_read(l, 0, begin, n, err) < 0)
        return -1;
    l->mark = text_file_mark(begin, n);
    return l->mark < l->size ? 0 : refuse_empty(l, err);
}

static int scan_file(struct lines *l, struct es_error *err)
{
    struct scan s = {.l = l, .err = err};
    struct stat st;
    int rc;

    if (fstat(l->fd, &st) < 0)
        return refuse_file(l->path, strerror(errno), err);
    if (!S_ISREG(st.st_mode))
        return es_fail(err, ES_USAGE,
                       "name a file of lines, or give - for standard input",
                       "--lines: %s: is no regular file", l->path);
    if (st.st_size == 0)
        return refuse_empty(l, err);
    l->was = st;
    l->size = (uint64_t)st.st_size;
    if (pass_mark(l, err) < 0)
        return -1;
    rc = sum_and_find(l, &s);
    free(s.block);
    XXH3_freeState(s.sum);
    XXH3_freeState(s.block_sum);
    return rc;
}

/* Standard input as a file, as pieces are read more than once. */
static int open_input(struct es_error *err)
{
    int fd = spool_open_file(), why;

    if (fd >= 0 && text_file_copy(STDIN_FILENO, fd) == 0)
        return fd;
    why = errno;
    if (fd >= 0)
        close(fd);
    if (why == EINTR)
        return es_fail(err, ES_WORK, "nothing has begun",
                       "ended while it read --lines -");
    return es_fail(err, ES_USAGE,
                   "give lines on standard input, and room for them in TMPDIR",
                   "--lines: -: %s", strerror(why));
}

static int open_file(const char *path, struct es_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    return fd < 0 ? refuse_file(path, strerror(errno), err) : fd;
}

/* The text of a packed file in another, in the place of fd, which is closed. */
static int open_packed(const char *path,
                       int fd,
                       const struct text_file_kind *kind,
                       struct es_error *err)
{
    int to = spool_open_file(), rc;
    char what[300];

    snprintf(what, sizeof what, "--lines: %.250s", path);
    if (to < 0)
        rc = es_fail(err, ES_USAGE, spool_mend(errno), "%s: %s", what,
                     strerror(errno));
    else
        rc = text_file_unpack(kind, fd, to, what, err);
    if (rc == 0)
        notice("%s: is %s: its text is read by %s", what, kind->name,
               kind->command);
    close(fd);
    if (rc < 0 && to >= 0)
        close(to);
    return rc < 0 ? -1 : to;
}

static int refuse_kind(const char *path,
                       const struct text_file_kind *kind,
                       struct es_error *err)
{
    char mend[300];

    snprintf(mend, sizeof mend, "%s <%.200s | evenstep run --lines - ...",
             kind->command, path);
    return es_fail(err, ES_USAGE, mend, "--lines: %s: is %s", path, kind->name);
}

/* fd, or another with its text; -1, and fd is closed: there is none. */
static int open_text(const char *path,
                     int fd,
                     int *is_copy,
                     struct es_error *err)
{
    char begin[TEXT_FILE_BEGIN];
    struct stat st;
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                    ? pread(fd, begin, sizeof begin, 0)
                    : 0;
    const struct text_file_kind *kind =
        n > 0 ? text_file_kind(begin, (size_t)n) : NULL;

    if (!kind)
        return fd;
    *is_copy = 1;
    if (lseek(fd, 0, SEEK_SET) == 0 && kind->unpack)
        return open_packed(path, fd, kind, err);
    close(fd);
    return refuse_kind(path, kind, err);
}

int lines_open(struct lines *l,
               const char *path,
               const struct record_rule *rule,
               struct es_error *err)
{
    int is_copy = strcmp(path, "-") == 0;
    int fd = is_copy ? open_input(err) : open_file(path, err);

    memset(l, 0, sizeof *l);
    if (fd >= 0)
        fd = open_text(path, fd, &is_copy, err);
    if (fd < 0)
        return -1;
    *l = (struct lines){.path = path,
                        .rule = rule ? rule : &by_lines,
                        .fd = fd,
                        .is_copy = is_copy};
    if (scan_file(l, err) == 0)
        return 0;
    lines_close(l);
    return -1;
}

int lines_open_fd(struct lines *l,
                  int fd,
                  const char *name,
                  struct es_error *err)
{
    *l =
        (struct lines){.path = name, .rule = &by_lines, .fd = fd, .is_copy = 1};
    if (scan_file(l, err) == 0)
        return 0;
    lines_close(l);
    return -1;
}

int lines_open_growing(struct lines *l,
                       int fd,
                       const char *name,
                       struct es_error *err)
{
    *l =
        (struct lines){.path = name, .rule = &by_lines, .fd = fd, .is_copy = 1};
    if (lines_grow(l, err) == 0)
        return 0;
    lines_close(l);
    return -1;
}

int lines_grow(struct lines *l, struct es_error *err)
{
    struct scan s = {.l = l, .at = l->size, .err = err};
    uint64_t begin = l->size;
    struct stat now;
    int rc = 1;

    if (fstat(l->fd, &now) < 0)
        return has_changed(l, strerror(errno), err);
    if ((uint64_t)now.st_size <= l->size)
        return 0;
    s.block = malloc(BLOCK);
    if (!s.block)
        return es_no_memory(err);
    l->size = (uint64_t)now.st_size;
    scan_records(&s);
    scan_from(&s, begin);
    while (rc > 0)
        rc = add_unit(l, begin) < 0 ? es_no_memory(err) : next_unit(&s, &begin);
    free(s.block);
    return rc;
}

void lines_close(struct lines *l)
{
    if (l->path)
        close(l->fd);
    free(l->landmark);
    free(l->sum);
    memset(l, 0, sizeof *l);
}

int lines_are_open(const struct lines *l)
{
    char last;

    return lines_read(l, l->size - 1, &last, 1, NULL) == 0 && last != '\n';
}

/* --- where units are ------------------------------------------------------ */

static int begin_of(struct scan *s, uint64_t unit, uint64_t *at)
{
    const struct lines *l = s->l;

    if (unit >= l->n) {
        *at = l->size;
        return 0;
    }
    *at = l->landmark[unit / LINES_STRIDE];
    scan_from(s, *at);
    s->at = s->from; /* nothing of it is read */
    s->n = 0;
    for (uint64_t skip = unit % LINES_STRIDE; skip > 0; skip--) {
        int rc = next_unit(s, at);

        if (rc < 0)
            return -1;
        if (rc == 0) { /* others have changed the file */
            *at = l->size;
            return 0;
        }
    }
    return 0;
}

int lines_find(const struct lines *l,
               uint64_t begin,
               uint64_t end,
               uint64_t *from,
               uint64_t *to,
               struct es_error *err)
{
    struct scan s = {.l = l, .block = malloc(BLOCK), .err = err};
    int rc = -1;

    if (!s.block)
        return es_no_memory(err);
    scan_records(&s);
    if (begin_of(&s, begin, from) == 0 && begin_of(&s, end, to) == 0)
        rc = 0;
    free(s.block);
    return rc;
}

static int sum_text(const struct lines *l,
                    uint64_t at,
                    uint64_t to,
                    XXH3_state_t *sum,
                    struct es_error *err)
{
    char *text = malloc(BLOCK);
    size_t n;
    int rc = 0;

    if (!text)
        return es_no_memory(err);
    for (; rc == 0 && at < to; at += n) {
        n = to - at < BLOCK ? (size_t)(to - at) : BLOCK;
        rc = lines_read(l, at, text, n, err);
        if (rc == 0 && XXH3_64bits_update(sum, text, n) != XXH_OK)
            rc = es_no_memory(err);
    }
    free(text);
    return rc;
}

int lines_sum(const struct lines *l,
              uint64_t begin,
              uint64_t end,
              uint64_t *sum,
              struct es_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    uint64_t from, to;
    int rc = -1;

    if (!state || XXH3_64bits_reset(state) != XXH_OK)
        rc = es_no_memory(err);
    else if (lines_find(l, begin, end, &from, &to, err) == 0
             && sum_text(l, l->mark, l->header, state, err) == 0)
        rc = sum_text(l, from, to, state, err);
    if (rc == 0)
        *sum = XXH3_64bits_digest(state);
    (void)XXH3_freeState(state);
    return rc;
}
