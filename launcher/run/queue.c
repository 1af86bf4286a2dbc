/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames wait in a ring; before it come those of the journal.  Regular files
 * are read when there is room in the ring; of other sources a read follows when
 * the event loop says that there is something.
 */
#include "launcher/run/queue.h"
#include "launcher/base/notice.h"
#include "launcher/base/option.h"
#include "launcher/base/text_file.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define READ_AHEAD 64  /* frames: more than a terabit link needs */
#define FOLLOW_MS  200 /* from one look at a file that grows to the next */
#define LINE_BYTES (2 * 20 + 2 + LABEL_MAX) /* two numbers, ':', ' ', label */

struct source {
    struct queue *queue;
    const char *path;
    int fd;
    int is_file;    /* is always readable */
    int is_regular; /* its lines can be mended */
    int readable;   /* a read would not block */
    int ended;
    int begun;         /* its first line was taken */
    size_t line;       /* number of the last one, from 1 */
    size_t known;      /* frames that the journal has */
    size_t cursor;     /* where to look for the next of them */
    size_t mended;     /* that are others now, or gone */
    struct frame was;  /* the last one, if it is mended; else of no units */
    struct stat st;    /* a regular file, when it was read last ... */
    off_t begin;       /* where reading has begun */
    uint64_t read;     /* ... up to there */
    XXH3_state_t *sum; /* of that; NULL: no such file */
    char text[4096];
    size_t len;
    struct event *event; /* readable, or time to look again */
};

/* Units that frames of a label have; in a tree in which what overlaps is
 * equal. */
struct claim {
    char label[LABEL_MAX];
    size_t type;
    uint64_t begin, end;
    const struct source *source;
    size_t line;
};

struct queue {
    struct source source[QUEUE_SOURCES_MAX];
    size_t n, turn;
    const struct work_types *types;
    int by_type, follow;
    struct journal *journal;
    int looks_back; /* at the lines that the journal has */
    size_t resumed; /* of the journal's frames, given out */
    struct frame ring[READ_AHEAD];
    size_t first, waiting;
    uint64_t next_number;
    void *claims;
    struct es_error bad; /* that is next behind the ring */
    struct event_base *base;
    void (*there)(void *arg);
    void *arg;
};

/* --- one line ------------------------------------------------------------- */

static int by_units(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = strcmp(x->label, y->label);

    if (order != 0)
        return order;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->end <= y->begin)
        return -1;
    return y->end <= x->begin;
}

static int claim_units(struct queue *q,
                       const struct source *s,
                       const struct frame *f,
                       struct es_error *err)
{
    struct claim *c = calloc(1, sizeof *c), **there;

    if (!c)
        return es_no_memory(err);
    memcpy(c->label, f->label, sizeof c->label);
    c->type = q->by_type ? f->type : 0;
    c->begin = f->begin;
    c->end = f->end;
    c->source = s;
    c->line = s->line;
    there = tsearch(c, &q->claims, by_units);
    if (there && *there == c)
        return 0;
    free(c);
    if (!there)
        return es_no_memory(err);
    return es_fail(err, ES_USAGE, "give frames apart, or labels of their own",
                   "%s:%zu: %ju:%ju overlaps line %zu of %s", s->path, s->line,
                   (uintmax_t)f->begin, (uintmax_t)f->end, (*there)->line,
                   (*there)->source->path);
}

/* Its place, for a frame whose name is known. */
static int find_type(const struct queue *q,
                     const char *where,
                     struct frame *f,
                     struct es_error *err)
{
    char mend[sizeof err->mend];

    if (!q->types)
        return 0;
    f->type = work_types_find(q->types, f->work);
    if (f->type < q->types->n)
        return 0;
    work_types_names(q->types, mend, sizeof mend);
    if (!f->work[0])
        return es_fail(err, ES_USAGE, mend,
                       "%s: names no work, and there is no command", where);
    return es_fail(err, ES_USAGE, mend, "%s: work @%s is not defined", where,
                   f->work);
}

/* The last word, if it begins with @, is no part of the label. */
static int take_type(const struct queue *q,
                     const char *where,
                     char *label,
                     struct frame *f,
                     struct es_error *err)
{
    size_t len = strlen(label);
    char *at;

    while (q->types && len > 0 && strchr(" \t", label[len - 1]))
        len--;
    at = label + len;
    while (at > label && !strchr(" \t", at[-1]))
        at--;
    if (q->types && *at == '@') {
        snprintf(f->work, sizeof f->work, "%.*s", (int)(label + len - at - 1),
                 at + 1);
        while (at > label && strchr(" \t", at[-1]))
            at--;
        *at = '\0';
    }
    return find_type(q, where, f, err);
}

static int parse_line(const struct source *s,
                      char *text,
                      size_t len,
                      struct frame *f,
                      struct es_error *err)
{
    char where[300], *label = text + strcspn(text, " \t");
    struct option_range units;

    snprintf(where, sizeof where, "%.250s:%zu", s->path, s->line);
    if (strlen(text) < len)
        return es_fail(err, ES_USAGE, "give text", "%s: has a NUL", where);
    if (*label)
        *label++ = '\0';
    label += strspn(label, " \t");
    if (strlen(label) >= LABEL_MAX)
        return es_fail(err, ES_USAGE, "give 255 bytes at most",
                       "%s: its label is too long", where);
    memset(f, 0, sizeof *f);
    if (take_type(s->queue, where, label, f, err) < 0)
        return -1;
    snprintf(f->label, sizeof f->label, "%s", label);
    if (option_range_parse(&units, where, text, err) < 0)
        return -1;
    f->begin = units.begin;
    f->end = units.end;
    return 0;
}

static int is_same(const struct frame *a, const struct frame *b)
{
    return a->begin == b->begin && a->end == b->end
           && strcmp(a->label, b->label) == 0 && strcmp(a->work, b->work) == 0;
}

/* The next frame that the journal has of a source; NULL past the end. */
static const struct queued *next_known(struct queue *q, struct source *s)
{
    size_t n;
    const struct queued *all = journal_queued(q->journal, &n);

    while (s->cursor < n && &q->source[all[s->cursor].source] != s)
        s->cursor++;
    return s->cursor < n ? &all[s->cursor++] : NULL;
}

/* Is it the line behind, or the one before where that is another one now, too?  Then
 * one was taken out, or put in, and what was done of all behind it would be lost. */
static int has_moved(const struct queue *q,
                     const struct source *s,
                     const struct queued *known,
                     const struct frame *f)
{
    size_t n;
    const struct queued *all = journal_queued(q->journal, &n),
                        *next = known + 1;
    int is_next = next < all + n && &q->source[next->source] == s
                  && !next->is_gone && is_same(&next->frame, f);

    return is_next || (s->was.end > 0 && is_same(&s->was, f));
}

/* A line that a run before has read, or another one in its place. */
static int look_back(struct queue *q,
                     struct source *s,
                     const struct queued *known,
                     const struct frame *f,
                     struct es_error *err)
{
    if (!known->is_gone && is_same(&known->frame, f)) {
        s->was.end = 0;
        return 0;
    }
    if (!s->is_regular || !known->is_of_file)
        return es_fail(err, ES_USAGE, "give the file of before",
                       "%s:%zu: is not what the journal has read there",
                       s->path, s->line);
    if (has_moved(q, s, known, f))
        return es_fail(
            err, ES_USAGE,
            "mend each line in its place, and add others at the end",
            "%s:%zu: lines have moved since the journal has read them", s->path,
            s->line);
    s->mended += !known->is_gone;
    s->was = known->frame;
    if (known->is_gone)
        s->was.end = 0; /* nothing of it is left to be lost */
    return journal_mend(q->journal, known->frame.number, f, err);
}

/* Its frame is a new one, or takes the place of one that was taken away. */
static int add_frame(struct queue *q,
                     const struct source *s,
                     const struct queued *gone,
                     struct frame *f,
                     struct es_error *err)
{
    struct queued new = {.source = (size_t)(s - q->source),
                         .is_of_file = s->is_regular};

    f->number = gone ? gone->frame.number : q->next_number++;
    new.frame = *f;
    if (q->journal && journal_add_queued(q->journal, &new, err) < 0)
        return -1;
    q->ring[(q->first + q->waiting++) % READ_AHEAD] = *f;
    return 0;
}

/* At the begin: is it no text at all? */
static int check_text(const struct source *s, struct es_error *err)
{
    const struct text_file_kind *kind = text_file_kind(
        s->text, s->len < TEXT_FILE_BEGIN ? s->len : TEXT_FILE_BEGIN);
    char mend[sizeof err->mend];

    if (s->begun || !kind)
        return 0;
    snprintf(mend, sizeof mend, "%s <%.200s | evenstep run --queue - ...",
             kind->command, s->path);
    return es_fail(err, ES_USAGE, mend, "--queue: %s: is %s", s->path,
                   kind->name);
}

static int take_line(struct queue *q,
                     struct source *s,
                     size_t len,
                     struct es_error *err)
{
    size_t mark = s->begun ? 0 : text_file_mark(s->text, len);
    const struct queued *known;
    struct frame f;

    s->line++;
    s->begun = 1;
    if (parse_line(s, s->text + mark, len - mark, &f, err) < 0
        || claim_units(q, s, &f, err) < 0)
        return -1;
    known = s->is_file ? next_known(q, s) : NULL;
    if (known && (q->looks_back || !known->is_gone))
        return look_back(q, s, known, &f, err);
    return add_frame(q, s, known, &f, err);
}

/* Is there something to do with one more line? */
static int wants_line(const struct queue *q, const struct source *s)
{
    return q->looks_back ? s->line < s->known : q->waiting < READ_AHEAD;
}

/* Take what is whole of a source's text, while there is room. */
static int take_lines(struct queue *q, struct source *s, struct es_error *err)
{
    char *end;

    while (wants_line(q, s) && (end = memchr(s->text, '\n', s->len)) != NULL) {
        size_t len = (size_t)(end - s->text);
        size_t n = len > 0 && end[-1] == '\r' ? len - 1 : len;

        s->text[n] = '\0';
        if (take_line(q, s, n, err) < 0)
            return -1;
        s->len -= len + 1;
        memmove(s->text, end + 1, s->len);
    }
    return 0;
}

/* --- one source ----------------------------------------------------------- */

static int wait_for(struct source *s)
{
    struct timeval delay = {0, FOLLOW_MS * 1000};

    s->readable = 0;
    return event_add(s->event, s->is_file ? &delay : NULL);
}

/* A file in whose place another one is now gets no lines any more. */
static int is_replaced(const struct source *s)
{
    struct stat now;

    return s->sum && stat(s->path, &now) == 0
           && (now.st_ino != s->st.st_ino || now.st_dev != s->st.st_dev);
}

static int at_end(struct queue *q, struct source *s, struct es_error *err)
{
    if (q->follow && is_replaced(s))
        return es_fail(err, ES_WORK, "add lines at the end of the file itself",
                       "--queue: %s: was replaced by another file: lines 1 to "
                       "%zu are of the one before",
                       s->path, s->line);
    if (s->is_file && q->follow)
        return wait_for(s) < 0 ? es_no_memory(err) : 0;
    s->ended = 1;
    if (s->len == 0)
        return 0;
    return es_fail(err, ES_USAGE, "end each line with a newline",
                   "%s:%zu: ends in the middle of a line", s->path,
                   s->line + 1);
}

static int is_untouched(const struct stat *was, const struct stat *now)
{
    return was->st_size == now->st_size
           && memcmp(&was->st_mtim, &now->st_mtim, sizeof was->st_mtim) == 0
           && memcmp(&was->st_ctim, &now->st_ctim, sizeof was->st_ctim) == 0;
}

/* Is what was read still there?  1, 0, or -1: no memory. */
static int is_as_read(const struct source *s)
{
    XXH3_state_t *sum = XXH3_createState();
    char text[16384];
    uint64_t at = 0;
    int is = sum && XXH3_64bits_reset(sum) == XXH_OK ? 1 : -1;
    ssize_t n = 1;

    while (is == 1 && n > 0 && at < s->read) {
        uint64_t left = s->read - at;

        n = pread(s->fd, text, left < sizeof text ? (size_t)left : sizeof text,
                  s->begin + (off_t)at);
        if (n > 0 && XXH3_64bits_update(sum, text, (size_t)n) != XXH_OK)
            is = -1;
        at += n > 0 ? (uint64_t)n : 0;
    }
    if (is == 1)
        is = at == s->read
             && XXH3_64bits_digest(sum) == XXH3_64bits_digest(s->sum);
    (void)XXH3_freeState(sum);
    return is;
}

/* Before more of a file is read: others may have written to it. */
static int check_file(struct source *s, struct es_error *err)
{
    struct stat now;
    int is;

    if (!s->sum || fstat(s->fd, &now) < 0 || is_untouched(&s->st, &now))
        return 0;
    is = is_as_read(s);
    s->st = now;
    if (is < 0)
        return es_no_memory(err);
    return is ? 0
              : es_fail(
                  err, ES_WORK, "add lines at its end, and change none",
                  "--queue: %s: was rewritten since the start: lines 1 to "
                  "%zu are of the text of before",
                  s->path, s->line);
}

/* Read once, as the text has no whole line. */
static int read_more(struct queue *q, struct source *s, struct es_error *err)
{
    ssize_t n;

    if (check_file(s, err) < 0)
        return -1;

    if (s->len == sizeof s->text)
        return es_fail(err, ES_USAGE, "give B:E and a label of 255 bytes",
                       "%s:%zu: is too long", s->path, s->line + 1);
    n = read(s->fd, s->text + s->len, sizeof s->text - s->len);
    if (n == 0)
        return at_end(q, s, err);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return es_fail(err, ES_WORK, "see that it can be read", "%s: %s",
                       s->path, strerror(errno));
    if (n > 0 && s->sum
        && XXH3_64bits_update(s->sum, s->text + s->len, (size_t)n) != XXH_OK)
        return es_no_memory(err);
    s->read += n > 0 ? (uint64_t)n : 0;
    s->len += n > 0 ? (size_t)n : 0;
    if (check_text(s, err) < 0)
        return -1;
    if (s->is_file)
        return 0;
    return wait_for(s) < 0 ? es_no_memory(err) : 0;
}

static int pump_source(struct queue *q, struct source *s, struct es_error *err)
{
    if (take_lines(q, s, err) < 0)
        return -1;
    while (wants_line(q, s) && s->readable && !s->ended)
        if (read_more(q, s, err) < 0 || take_lines(q, s, err) < 0)
            return -1;
    return 0;
}

/* Fill the ring, beginning with another source each time. */
static void pump(struct queue *q)
{
    for (size_t i = 0; i < q->n && q->bad.kind == ES_OK; i++)
        if (pump_source(q, &q->source[(q->turn + i) % q->n], &q->bad) < 0)
            return;
    q->turn = (q->turn + 1) % q->n;
}

static void on_readable(int fd, short what, void *arg)
{
    struct source *s = arg;
    struct queue *q = s->queue;

    (void)fd;
    (void)what;
    s->readable = 1;
    pump(q);
    q->there(q->arg);
}

/* --- opening -------------------------------------------------------------- */

static int open_path(const struct queue *q, const char *path)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    /* A named pipe that we can write to never ends. */
    if (q->follow && stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static size_t count_known(const struct queue *q, size_t source)
{
    size_t n, count = 0;
    const struct queued *all = journal_queued(q->journal, &n);

    for (size_t i = 0; i < n; i++)
        count += all[i].source == source;
    return count;
}

static int open_source(struct queue *q, const char *path, struct es_error *err)
{
    struct source *s = &q->source[q->n++];
    struct stat st;

    s->queue = q;
    s->path = strcmp(path, "-") == 0 ? "stdin" : path;
    s->fd = open_path(q, path);
    if (s->fd < 0 || fstat(s->fd, &st) < 0)
        return es_fail(err, ES_USAGE, "name a file that you may read",
                       "--queue: %s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return es_fail(err, ES_USAGE, "name a file", "--queue: %s: %s", path,
                       strerror(EISDIR));
    s->is_regular = S_ISREG(st.st_mode);
    /* /dev/null and the like need no waiting for, nor can be. */
    s->is_file = s->readable =
        s->is_regular || (S_ISCHR(st.st_mode) && !isatty(s->fd));
    s->st = st;
    s->begin = s->is_regular ? lseek(s->fd, 0, SEEK_CUR) : 0;
    s->sum = s->is_regular ? XXH3_createState() : NULL;
    if (s->is_regular && (!s->sum || XXH3_64bits_reset(s->sum) != XXH_OK))
        return es_no_memory(err);
    if (s->is_file)
        s->known = count_known(q, q->n - 1);
    s->event = event_new(q->base, s->is_file ? -1 : s->fd,
                         s->is_file ? 0 : EV_READ, on_readable, s);
    if (!s->event || (!s->is_file && wait_for(s) < 0))
        return es_fail(err, ES_USAGE, "name a file or a pipe",
                       "--queue: %s: cannot be waited for", path);
    return 0;
}

int queue_open(struct queue **q,
               struct event_base *base,
               const struct queue_setup *setup,
               void (*there)(void *arg),
               void *arg,
               struct es_error *err)
{
    struct queue *new = calloc(1, sizeof *new);
    int rc = 0;

    if (!new)
        return es_no_memory(err);
    new->base = base;
    new->types = setup->types;
    new->by_type = setup->by_type;
    new->follow = setup->follow;
    new->journal = setup->journal;
    new->there = there;
    new->arg = arg;
    for (size_t i = 0; i < setup->n && rc == 0; i++)
        rc = open_source(new, setup->path[i], err);
    if (rc < 0)
        queue_close(new);
    else
        *q = new;
    return rc;
}

void queue_close(struct queue *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->n; i++) {
        if (q->source[i].event)
            event_free(q->source[i].event);
        (void)XXH3_freeState(q->source[i].sum);
        if (q->source[i].fd >= 0)
            close(q->source[i].fd); /* only read from */
    }
    tdestroy(q->claims, free);
    free(q);
}

/* --- what a run before has read --------------------------------------------- */

/* Of pipes. */
static int claim_known(struct queue *q, struct es_error *err)
{
    size_t n;
    const struct queued *all = journal_queued(q->journal, &n);

    q->next_number = n;
    for (size_t i = 0; i < n; i++) {
        struct frame known;
        struct source *s;

        if (all[i].source >= q->n)
            return es_fail(err, ES_USAGE, "give all queues of before",
                           "--journal: is of more queues");
        s = &q->source[all[i].source];
        if (s->is_file)
            continue;
        s->line++;
        known = all[i].frame;
        if (find_type(q, "--journal", &known, err) < 0
            || claim_units(q, s, &known, err) < 0)
            return -1;
    }
    return 0;
}

/* Of a file that has fewer lines now. */
static int take_away(struct queue *q, struct source *s, struct es_error *err)
{
    const struct queued *known;

    while (s->is_regular && (known = next_known(q, s)) != NULL) {
        if (known->is_gone || !known->is_of_file)
            continue;
        s->mended++;
        if (journal_mend(q->journal, known->frame.number, NULL, err) < 0)
            return -1;
    }
    return 0;
}

static int look_back_at(struct queue *q, struct source *s, struct es_error *err)
{
    size_t cursor;

    if (pump_source(q, s, err) < 0)
        return -1;
    cursor = s->cursor;
    if (take_away(q, s, err) < 0)
        return -1;
    s->cursor = cursor; /* lines that come yet take their places */
    if (s->mended > 0)
        notice(
            "%s: %zu line%s changed, or gone, since the journal has read %s: "
            "what was done of %s does not count any more",
            s->path, s->mended, s->mended == 1 ? "" : "s",
            s->mended == 1 ? "it" : "them", s->mended == 1 ? "it" : "them");
    return 0;
}

int queue_look(struct queue *q, struct es_error *err)
{
    if (claim_known(q, err) < 0)
        return -1;
    q->looks_back = 1;
    for (size_t i = 0; i < q->n; i++)
        if (q->source[i].is_file && look_back_at(q, &q->source[i], err) < 0)
            return -1;
    q->looks_back = 0;
    if (q->journal && journal_mended(q->journal, err) < 0)
        return -1;
    pump(q);
    if (q->waiting > 0 || q->bad.kind == ES_OK)
        return 0;
    *err = q->bad;
    return -1;
}

/* --- giving out ----------------------------------------------------------- */

static int all_have_ended(const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        if (!q->source[i].ended || q->source[i].len > 0)
            return 0;
    return 1;
}

/* Of its type. */
static uint64_t most_waiting(const struct queue *q, size_t type)
{
    uint64_t most = 0;

    for (size_t i = 0; i < q->waiting; i++) {
        const struct frame *f = &q->ring[(q->first + i) % READ_AHEAD];

        if (f->type == type && f->end - f->begin > most)
            most = f->end - f->begin;
    }
    return most;
}

int queue_next(struct queue *q, struct frame *f, struct es_error *err)
{
    size_t n;
    const struct queued *known = journal_queued(q->journal, &n);

    while (q->resumed < n && known[q->resumed].is_gone)
        q->resumed++;
    if (q->resumed < n) {
        *f = known[q->resumed++].frame;
        return find_type(q, "--journal", f, err) < 0 ? -1 : EXTRACTED_FRAME;
    }
    if (q->waiting == 0)
        pump(q);
    if (q->waiting > 0) {
        *f = q->ring[q->first];
        q->first = (q->first + 1) % READ_AHEAD;
        q->waiting--;
        f->most = most_waiting(q, f->type);
        return EXTRACTED_FRAME;
    }
    if (q->bad.kind != ES_OK) {
        *err = q->bad;
        return -1;
    }
    return all_have_ended(q) ? EXTRACTED_END : EXTRACTED_LATER;
}

void queue_tell_changes(const struct queue *q)
{
    struct stat now;

    for (size_t i = 0; i < q->n; i++) {
        const struct source *s = &q->source[i];

        if (!s->sum || q->follow || fstat(s->fd, &now) < 0)
            continue;
        if (now.st_size > s->begin + (off_t)s->read)
            notice(
                "warning: --queue: %s has grown since its end was read: what "
                "was added is not done; --follow waits for more",
                s->path);
        else if (!is_untouched(&s->st, &now) && is_as_read(s) == 0)
            notice("warning: --queue: %s was rewritten since it was read: this "
                   "run is of the text of before",
                   s->path);
        else if (is_replaced(s))
            notice(
                "warning: --queue: %s was replaced by another file: this run "
                "is of the one that was there at the start",
                s->path);
    }
}
