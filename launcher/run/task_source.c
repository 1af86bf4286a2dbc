/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_source.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/base/text_file.h"
#include "launcher/exec/task_words.h"
#include "launcher/run/task_need.h"
#include "pmix_bcast/array.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (64u << 10) /* bytes that are read at a time */
#define FOLLOW_BLOCKS                                                          \
    64 /* of a pipe, before others have their turn: who writes may never end */

/* --- the words behind -- -------------------------------------------------- */

static struct task_source *add_source(struct task_sources *s,
                                      const char *option,
                                      struct es_error *err)
{
    struct task_source *source = &s->source[s->n];

    if (s->n == TASK_SOURCES_MAX) {
        es_fail(
            err, ES_USAGE, "give the files one after the other, as cat does",
            "%s: more than %u sources of arguments", option, TASK_SOURCES_MAX);
        return NULL;
    }
    s->n++;
    *source = (struct task_source){.option = option};
    return source;
}

int task_sources_file(struct task_sources *s,
                      const char *option,
                      const char *path,
                      struct es_error *err)
{
    struct task_source *source;

    for (size_t i = 0; i < s->n; i++)
        if (strcmp(path, "-") == 0 && s->source[i].kind == TASK_FILE
            && strcmp(s->source[i].path, "-") == 0)
            return es_fail(err, ES_USAGE, "give - once",
                           "%s: -: standard input cannot be read twice",
                           option);
    source = add_source(s, option, err);
    if (!source)
        return -1;
    source->kind = TASK_FILE;
    source->path = path;
    return 0;
}

int task_sources_range(struct task_sources *s,
                       uint64_t begin,
                       uint64_t end,
                       struct es_error *err)
{
    struct task_source *source = add_source(s, "--range", err);

    if (!source)
        return -1;
    source->kind = TASK_RANGE;
    source->begin = begin;
    source->end = end;
    return 0;
}

/* What a word is that stands between sources; 0: none of them. */
enum { SEPARATES = 1, NAMES_FILES = 2, LINKS = 4 };

static unsigned separator(const char *word, const char *sep)
{
    size_t n = strlen(sep);

    if (strncmp(word, sep, n) == 0
        && (word[n] == '\0' || strcmp(word + n, "+") == 0))
        return SEPARATES | (word[n] ? LINKS : 0);
    if (strncmp(word, "::::", 4) == 0
        && (word[4] == '\0' || strcmp(word + 4, "+") == 0))
        return SEPARATES | NAMES_FILES | (word[4] ? LINKS : 0);
    return 0;
}

static int add_list(struct task_sources *s,
                    unsigned kind,
                    const char *sep,
                    char **words,
                    struct es_error *err)
{
    struct task_source *source;
    size_t first = s->n;

    if ((kind & LINKS) && first == 0)
        return es_fail(err, ES_USAGE, "write ::: in front of the first list",
                       "%s: there is no list in front of it to link to", sep);
    if (!(kind & NAMES_FILES)) {
        source = add_source(s, sep, err);
        if (!source)
            return -1;
        source->words = words;
    } else if (!words[0]) {
        return es_fail(err, ES_USAGE, "write: :::: FILE",
                       "%s: names no file of arguments", sep);
    }
    for (size_t i = 0; (kind & NAMES_FILES) && words[i]; i++)
        if (task_sources_file(s, sep, words[i], err) < 0)
            return -1;
    for (size_t i = first; i < s->n; i++)
        s->source[i].linked = (kind & LINKS) != 0;
    return 0;
}

int task_sources_split(struct task_sources *s,
                       char **words,
                       const char *sep,
                       struct es_error *err)
{
    sep = sep ? sep : ":::";
    while (*words && !separator(*words, sep))
        words++;
    while (*words) {
        const char *option = *words;
        unsigned kind = separator(option, sep);
        char **list = words + 1;

        *words++ = NULL;
        while (*words && !separator(*words, sep))
            words++;
        /* The next separator ends this list, once it is known. */
        if (*words) {
            char *next = *words;

            *words = NULL;
            if (add_list(s, kind, option, list, err) < 0)
                return -1;
            *words = next;
        } else if (add_list(s, kind, option, list, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int refuse_colsep(const char *text,
                         const char *why,
                         struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "give the text itself: --colsep , or --colsep '\\t'",
                   "--colsep: \"%.40s\" %s", text, why);
}

int task_sources_colsep(struct task_sources *s,
                        const char *text,
                        struct es_error *err)
{
    size_t n = 0;

    for (const char *c = text; *c; c++) {
        char byte = *c;

        if (byte == '\\' && c[1]) {
            byte = *++c;
            if (isalnum((unsigned char)byte) && byte != 't')
                return refuse_colsep(text, "is a regular expression", err);
            byte = (char)(byte == 't' ? '\t' : byte);
        } else if (strchr("[(*+?", byte) && text[1]) {
            return refuse_colsep(text, "is a regular expression", err);
        }
        if (byte == '\n' || n + 1 == TASK_COLSEP_MAX)
            return refuse_colsep(text, "cannot stand between columns", err);
        s->colsep[n++] = byte;
    }
    s->colsep[n] = '\0';
    return n > 0 ? 0 : refuse_colsep(text, "is empty", err);
}

/* --- a source that is read ------------------------------------------------ */

struct task_reader {
    const struct task_sources *s;
    const struct task_source *source;
    char *name;
    int fd;
    struct stat was;   /* the file, as it was opened */
    int begun, at_end; /* of the file */
    int is_closed;     /* by a line of it */
    uint64_t bytes;    /* that were read of it */
    unsigned blocks;   /* likewise, since others had their turn */
    char *text;        /* what was read, and room for a NUL */
    size_t room;
    size_t from, end;      /* what of it is to be looked at */
    uint64_t lines;        /* that have ended before `from` */
    struct unit_need need; /* of the next row */
    uint64_t next;         /* word of a list, number of a range */
};

const char *task_reader_name(const struct task_reader *r)
{
    return r->name;
}

/* Fails with ES_USAGE: of a file with the number of a line. */
static int refuse_line(const struct task_reader *r,
                       uint64_t line,
                       const char *mend,
                       struct es_error *err,
                       const char *why)
{
    if (r->source->kind == TASK_FILE)
        return es_fail(err, ES_USAGE, mend, "%s:%ju: %s", r->name,
                       (uintmax_t)line, why);
    return es_fail(err, ES_USAGE, mend, "%s: argument %ju: %s", r->name,
                   (uintmax_t)r->next, why);
}

static int refuse_file(const struct task_reader *r,
                       const char *why,
                       struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "give a file with a line for each task, or - for "
                   "standard input",
                   "%s: %s", r->name, why);
}

/* A packed file gives way to its text. */
static int unpack(struct task_reader *r, struct es_error *err)
{
    char begin[TEXT_FILE_BEGIN], mend[300];
    ssize_t n = pread(r->fd, begin, sizeof begin, 0);
    const struct text_file_kind *kind =
        n > 0 ? text_file_kind(begin, (size_t)n) : NULL;
    int to, rc;

    if (!kind)
        return 0;
    if (r->s->follow)
        return es_fail(err, ES_USAGE, "give its text",
                       "%s: is %s, and cannot "
                       "be followed",
                       r->name, kind->name);
    if (!kind->unpack) {
        snprintf(mend, sizeof mend, "%s <%.200s | evenstep ... -",
                 kind->command, r->source->path);
        return es_fail(err, ES_USAGE, mend, "%s: is %s", r->name, kind->name);
    }
    to = spool_open_file();
    if (to < 0)
        return es_fail(err, ES_USAGE, spool_mend(errno), "%s: %s", r->name,
                       strerror(errno));
    rc = text_file_unpack(kind, r->fd, to, r->name, err);
    if (rc == 0 && lseek(to, 0, SEEK_SET) < 0)
        rc = refuse_file(r, strerror(errno), err);
    if (rc < 0) {
        close(to);
        return -1;
    }
    notice("%s: is %s: its text is read by %s", r->name, kind->name,
           kind->command);
    close(r->fd);
    r->fd = to;
    return 0;
}

static int open_file(struct task_reader *r, struct es_error *err)
{
    const char *path = r->source->path;
    struct stat *st = &r->was;
    int how = O_RDONLY;

    /* A named pipe that we can write to never ends. */
    if (r->s->follow && stat(path, st) == 0 && S_ISFIFO(st->st_mode))
        how = O_RDWR;
    r->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                   : open(path, how | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, st) < 0)
        return refuse_file(r, strerror(errno), err);
    if (S_ISDIR(st->st_mode))
        return refuse_file(r, "is a directory", err);
    if (!S_ISREG(st->st_mode))
        return 0;
    r->bytes = (uint64_t)lseek(r->fd, 0, SEEK_CUR);
    return r->bytes == 0 ? unpack(r, err) : 0;
}

struct task_reader *task_reader_open(const struct task_sources *s,
                                     size_t i,
                                     struct es_error *err)
{
    struct task_reader *r = calloc(1, sizeof *r);
    int rc;

    if (!r) {
        es_no_memory(err);
        return NULL;
    }
    *r = (struct task_reader){.s = s, .source = &s->source[i], .fd = -1};
    if (r->source->kind == TASK_FILE)
        rc = asprintf(&r->name, "%s: %s", r->source->option, r->source->path);
    else
        rc = asprintf(&r->name, "\"%s\"", r->source->option);
    if (rc < 0) {
        r->name = NULL;
        es_no_memory(err);
    } else if (r->source->kind == TASK_FILE) {
        rc = open_file(r, err);
    }
    r->next = r->source->kind == TASK_RANGE ? r->source->begin : 0;
    if (rc >= 0)
        return r;
    task_reader_close(r);
    return NULL;
}

void task_reader_close(struct task_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    free(r->name);
    free(r->text);
    free(r);
}

int task_reader_pipe(const struct task_reader *r)
{
    mode_t mode = r->was.st_mode;

    return S_ISFIFO(mode) || S_ISSOCK(mode) || isatty(r->fd) ? r->fd : -1;
}

/* --- lines ---------------------------------------------------------------- */

static int fail_followed(const struct task_reader *r,
                         const char *why,
                         struct es_error *err)
{
    return es_fail(err, ES_WORK,
                   "add lines at the end of the file itself, as evenstep tasks "
                   "--add does",
                   "%s: %s: lines 1 to %ju are of what it was", r->name, why,
                   (uintmax_t)r->lines);
}

/* At the end, for now, of a file that is followed. */
static int check_followed(const struct task_reader *r, struct es_error *err)
{
    struct stat now;

    if (fstat(r->fd, &now) == 0 && (uint64_t)now.st_size < r->bytes)
        return fail_followed(r, "has become shorter", err);
    if (strcmp(r->source->path, "-") != 0 && stat(r->source->path, &now) == 0
        && (now.st_ino != r->was.st_ino || now.st_dev != r->was.st_dev))
        return fail_followed(r, "was replaced by another file", err);
    return ROW_LATER;
}

/* Is there nothing to be read now, where that is not waited for? */
static int is_later(struct task_reader *r)
{
    struct pollfd input = {.fd = r->fd, .events = POLLIN};

    if (!r->s->follow || S_ISREG(r->was.st_mode))
        return 0;
    if (r->blocks++ < FOLLOW_BLOCKS && poll(&input, 1, 0) != 0)
        return 0;
    r->blocks = 0;
    return 1;
}

/* Read more behind what there is: 1, 0 at the end of the file, ROW_LATER, or -1. */
static int read_more(struct task_reader *r, struct es_error *err)
{
    struct pollfd input = {.fd = r->fd, .events = POLLIN};
    char *more;
    ssize_t n;

    if (r->from > 0 && r->from == r->end)
        r->from = r->end = 0;
    if (r->from > BLOCK && r->from > r->room / 2) {
        memmove(r->text, r->text + r->from, r->end - r->from);
        r->end -= r->from;
        r->from = 0;
    }
    if (r->end - r->from > TASK_LINE_MAX)
        return refuse_line(r, r->lines + 1,
                           "put each argument on a line of its own", err,
                           "is longer than 8 MiB");
    more = array_grow(r->text, &r->room, r->end + BLOCK + 1, 1, SIZE_MAX);
    if (!more)
        return es_no_memory(err);
    r->text = more;
    if (is_later(r))
        return ROW_LATER;
    do /* poll(), unlike read(), always ends when a signal is caught */
        n = poll(&input, 1, -1) < 0
                ? -1
                : read(r->fd, r->text + r->end, r->room - r->end - 1);
    while (n < 0 && errno == EAGAIN);
    if (n < 0 && errno == EINTR)
        return es_fail(err, ES_WORK, "nothing has begun",
                       "ended while it read %s", r->name);
    if (n < 0)
        return refuse_file(r, strerror(errno), err);
    r->end += (size_t)n;
    r->bytes += (uint64_t)n;
    if (n == 0 && r->s->follow && S_ISREG(r->was.st_mode))
        return check_followed(r, err);
    r->at_end = n == 0;
    return n > 0;
}

/* Where a value of RFC 4180 is; it may have ends of lines in quotes. */
enum quotes { BEGIN, PLAIN, QUOTED, QUOTE };

static enum quotes follow_quotes(enum quotes q, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (q == QUOTED)
            q = text[i] == '"' ? QUOTE : QUOTED;
        else if (text[i] == '"' && q != PLAIN)
            q = QUOTED;
        else
            q = text[i] == ',' ? BEGIN : PLAIN;
    return q;
}

static int is_csv(const struct task_sources *s)
{
    return strcmp(s->colsep, ",") == 0;
}

/* A line, or as many as its quotes take: 1, 0 at the end, ROW_LATER, or -1.  It stands at
 * r->text + *at, and a NUL may be put behind it. */
static int next_line(struct task_reader *r,
                     size_t *at,
                     size_t *len,
                     struct es_error *err)
{
    char end = r->s->nul ? '\0' : '\n', *stop;
    size_t seen = 0, done = 0, lines = 0; /* of what is from r->from on */
    enum quotes q = BEGIN;
    int rc;

    for (;;) {
        stop = r->end - r->from > seen ? memchr(r->text + r->from + seen, end,
                                                r->end - r->from - seen)
                                       : NULL;
        seen = stop ? (size_t)(stop - (r->text + r->from)) : r->end - r->from;
        if (stop || r->at_end) {
            if (is_csv(r->s))
                q = follow_quotes(q, r->text + r->from + done, seen - done);
            lines++;
            if (q != QUOTED || !stop || end == '\0')
                break;
            done = seen++;
        } else if ((rc = read_more(r, err)) < 0 || rc == ROW_LATER) {
            return rc;
        }
    }
    if (seen == 0 && !stop)
        return 0;
    if (q == QUOTED)
        return refuse_line(r, r->lines + 1, "end it with a quote", err,
                           "a quote in it does not end");
    *at = r->from;
    *len = seen;
    r->from += seen + (stop != NULL);
    r->lines += lines;
    return 1;
}

/* --- values --------------------------------------------------------------- */

static int add_value(struct task_row *row,
                     const char *at,
                     size_t len,
                     struct es_error *err)
{
    struct task_value *more = row->value;

    if (row->n == row->room)
        more = array_grow(row->value, &row->room, row->n + 1, sizeof *more,
                          SIZE_MAX);
    if (!more)
        return es_no_memory(err);
    row->value = more;
    more[row->n++] = (struct task_value){at, len};
    return 0;
}

/* A value in quotes, at text, without them and in place; returns what follows, NULL:
 * something else than an end does. */
static char *unquote(char *text, const char *end, size_t *len)
{
    char *to = text, *c = text + 1;

    for (; c < end; c++) {
        if (*c == '"' && (c + 1 == end || c[1] != '"'))
            break;
        c += *c == '"';
        *to++ = *c;
    }
    *len = (size_t)(to - text);
    c++;
    return c == end || *c == ',' ? c : NULL;
}

static int split_csv(struct task_reader *r,
                     struct task_row *row,
                     char *text,
                     size_t size,
                     struct es_error *err)
{
    char *end = text + size, *stop;
    size_t len;

    for (;; text = stop + 1) {
        if (text < end && *text == '"') {
            stop = unquote(text, end, &len);
        } else {
            stop = memchr(text, ',', (size_t)(end - text));
            stop = stop ? stop : end;
            len = (size_t)(stop - text);
        }
        if (!stop)
            return refuse_line(
                r, row->line,
                "write a quote within quotes twice: \"a \"\"b\"\"\"", err,
                "text follows a quote that ends a column");
        if (add_value(row, text, len, err) < 0)
            return -1;
        if (stop == end)
            return 0;
    }
}

static int split(struct task_reader *r,
                 struct task_row *row,
                 char *text,
                 size_t size,
                 struct es_error *err)
{
    const char *sep = r->s->colsep;
    size_t n = strlen(sep);
    char *end = text + size, *stop;

    while (n > 0 && (stop = memmem(text, (size_t)(end - text), sep, n))) {
        if (add_value(row, text, (size_t)(stop - text), err) < 0)
            return -1;
        text = stop + n;
    }
    return add_value(row, text, (size_t)(end - text), err);
}

/* Each value by itself, as an argument cannot be longer. */
static int check_values(const struct task_reader *r,
                        const struct task_row *row,
                        struct es_error *err)
{
    size_t most = r->s->word ? r->s->word : TASK_WORD_MAX - 1;
    char why[100];

    for (size_t i = 0; i < row->n; i++)
        if (row->value[i].len > most) {
            snprintf(why, sizeof why,
                     "%zu bytes, and an argument has %zu at most",
                     row->value[i].len, most);
            return refuse_line(r, row->line,
                               "put it into a file, and give the name of that",
                               err, why);
        }
    return 0;
}

static int make_row(struct task_reader *r,
                    struct task_row *row,
                    char *text,
                    size_t len,
                    struct es_error *err)
{
    int rc;

    row->n = 0;
    if (r->s->colsep[0] && len > 0 && text[len - 1] == '\r' && row->line > 0)
        len--;
    if (is_csv(r->s))
        rc = split_csv(r, row, text, len, err);
    else
        rc = split(r, row, text, len, err);
    return rc < 0 || check_values(r, row, err) < 0 ? -1 : 1;
}

/* A copy, as quotes are taken out in place. */
static int next_word(struct task_reader *r,
                     struct task_row *row,
                     struct es_error *err)
{
    const char *word = r->source->words[r->next];
    size_t len;
    char *more;

    row->line = 0;
    if (!word)
        return 0;
    r->next++;
    len = strlen(word);
    more = array_grow(r->text, &r->room, len + 1, 1, SIZE_MAX);
    if (!more)
        return es_no_memory(err);
    r->text = more;
    memcpy(r->text, word, len + 1);
    if (is_csv(r->s) && follow_quotes(BEGIN, r->text, len) == QUOTED)
        return refuse_line(r, 0, "end it with a quote", err,
                           "a quote in it does not end");
    return make_row(r, row, r->text, len, err);
}

static int next_number(struct task_reader *r,
                       struct task_row *row,
                       struct es_error *err)
{
    char *more;

    row->line = 0;
    if (r->next >= r->source->end)
        return 0;
    more = array_grow(r->text, &r->room, 24, 1, SIZE_MAX);
    if (!more)
        return es_no_memory(err);
    r->text = more;
    row->n = 0;
    return add_value(row, r->text,
                     (size_t)snprintf(r->text, 24, "%ju", (uintmax_t)r->next++),
                     err)
                   < 0
               ? -1
               : 1;
}

/* Is a line no row? */
static int is_skipped(const struct task_sources *s,
                      const char *text,
                      size_t len)
{
    size_t i = 0;

    while (i < len && isspace((unsigned char)text[i]))
        i++;
    if (s->commands && i < len && text[i] == '#')
        return 1;
    return i == len && (s->commands || s->colsep[0]);
}

/* What we, or other programs, read in a comment; to skip it would be to do something
 * else. */
enum instruction { NO_INSTRUCTION, ENDS, PARTS, NEEDS, UNKNOWN };

static enum instruction instruction_of(const struct task_sources *s,
                                       const char *text,
                                       size_t len)
{
    static const struct {
        const char *begin; /* of those of which we know but this one */
        const char *text;
        enum instruction is;
    } known[] = {{"#EVENSTEP", TASK_LINE_END, ENDS},
                 {"#EVENSTEP", TASK_LINE_BARRIER, PARTS},
                 {"#DISBATCH", "#DISBATCH BARRIER", PARTS}};
    enum instruction is = NO_INSTRUCTION;

    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].begin);

        if (!(s->commands || s->follow) || len < n
            || memcmp(text, known[i].begin, n) != 0)
            continue;
        is = UNKNOWN;
        if (len == strlen(known[i].text)
            && memcmp(text, known[i].text, len) == 0)
            return known[i].is;
    }
    if (is == UNKNOWN && len > strlen(TASK_LINE_NEED)
        && memcmp(text, TASK_LINE_NEED, strlen(TASK_LINE_NEED)) == 0)
        is = NEEDS;
    return is;
}

static int take_need(struct task_reader *r,
                     const char *text,
                     size_t len,
                     struct es_error *err)
{
    size_t n = strlen(TASK_LINE_NEED);
    char why[100];

    if (!r->s->no_needs)
        return task_need_parse(&r->need, text + n, len - n, r->name, r->lines,
                               err);
    snprintf(why, sizeof why, "says what a task needs, and %s is given",
             r->s->no_needs);
    return refuse_line(r, r->lines, "leave one of them out", err, why);
}

/* At the end of a list: the task that a line speaks of is not there. */
static void tell_needless(const struct task_reader *r)
{
    if (r->need.line > 0)
        notice("warning: %s:%ju: no command line follows what this line says",
               r->name, (uintmax_t)r->need.line);
}

/* The list ends here. */
static int end_here(struct task_reader *r, struct es_error *err)
{
    if (!r->at_end && S_ISREG(r->was.st_mode) && r->from == r->end
        && read_more(r, err) < 0)
        return -1;
    if (r->from < r->end)
        notice("warning: %s:%ju: the list ends here, and what stands behind it "
               "is not run",
               r->name, (uintmax_t)r->lines);
    r->is_closed = 1;
    tell_needless(r);
    return ROW_END;
}

/* A byte order mark is no part of the first line. */
static int pass_mark(struct task_reader *r, struct es_error *err)
{
    int rc = 1;

    while (rc == 1 && r->end < TEXT_FILE_BEGIN && !r->at_end)
        if ((rc = read_more(r, err)) < 0 || (rc == ROW_LATER && r->end == 0))
            return rc;
    r->from = text_file_mark(r->text, r->end);
    r->begun = 1;
    return ROW_THERE;
}

static int next_row(struct task_reader *r,
                    struct task_row *row,
                    struct es_error *err)
{
    size_t at = 0, len = 0;
    int rc = r->begun ? ROW_THERE : pass_mark(r, err), is_need;

    if (rc != ROW_THERE || r->is_closed)
        return rc == ROW_THERE ? ROW_END : rc;
    do {
        is_need = 0;
        row->line = r->lines + 1;
        rc = next_line(r, &at, &len, err);
        if (rc == ROW_END)
            tell_needless(r);
        if (rc != ROW_THERE)
            return rc;
        switch (instruction_of(r->s, r->text + at, len)) {
        case ENDS:
            return end_here(r, err);
        case PARTS:
            return ROW_BARRIER;
        case NEEDS:
            if (take_need(r, r->text + at, len, err) < 0)
                return -1;
            is_need = 1;
            break;
        case UNKNOWN:
            return refuse_line(
                r, row->line,
                "\"" TASK_LINE_BARRIER "\", \"" TASK_LINE_END "\" and, as in "
                "\"#EVENSTEP cpus=4\", what a task needs are known",
                err, "is an instruction that the list cannot have");
        case NO_INSTRUCTION:
            break;
        }
    } while (is_need || is_skipped(r->s, r->text + at, len));
    row->need = r->need;
    r->need = (struct unit_need){0};
    if (!r->s->nul && memchr(r->text + at, '\0', len))
        return refuse_line(r, row->line,
                           "give a text, or -0 where a NUL ends each argument",
                           err, "has a NUL, so this is no text");
    return make_row(r, row, r->text + at, len, err);
}

int task_reader_next(struct task_reader *r,
                     struct task_row *row,
                     struct es_error *err)
{
    switch (r->source->kind) {
    case TASK_LIST:
        return next_word(r, row, err);
    case TASK_RANGE:
        return next_number(r, row, err);
    default:
        return next_row(r, row, err);
    }
}
