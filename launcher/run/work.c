/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/work.h"
#include "launcher/base/hidden_file.h"
#include "launcher/base/lines_look.h"
#include "launcher/base/notice.h"
#include "launcher/run/journal.h"
#include "launcher/run/piece_files.h"
#include "launcher/run/queue.h"
#include "launcher/run/task_feed.h"
#include "launcher/run/task_text.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* --- left files ---------------------------------------------------------------- */

/* The files of pieces that a run before has left, as a run that
 * resumes finds them: a piece that counts must have its own, and of one that does
 * not count any more nothing may stay among those of this run.
 *
 * Only what the journal's run has written is removed: an output that is as the
 * journal has it, a returned file that has the size and the time of then. */

struct left { /* a file of a piece that does not count */
    char *name;
    const struct kept *piece;
    uint32_t which;            /* of its files */
    const struct kept *needed; /* that counts, and has this name, too */
};

struct look {
    const struct piece_files *files;
    struct journal *journal;
    struct left *left;
    size_t n, room;
    size_t missing; /* returned files */
    char first[FILE_NAME_MAX];
};

static int is_marked(const struct look *l,
                     const struct kept *k,
                     uint32_t file,
                     const struct stat *st)
{
    const struct file_mark now = file_mark_of(st);
    const struct file_mark *mark = journal_marks(l->journal, k);

    return file < k->n_marks && mark[file].bytes == now.bytes
           && mark[file].mtime_ns == now.mtime_ns;
}

/* --- pieces that count ----------------------------------------------------- */

static int note_missing(struct look *l, const char *name)
{
    if (l->missing++ == 0)
        snprintf(l->first, sizeof l->first, "%s", name);
    return 1;
}

/* One returned file: shown if it was only kept.  1: it is not there, or what was
 * kept is another piece's. */
static int is_missing(struct look *l,
                      const struct kept *k,
                      uint32_t file,
                      const char *name)
{
    int is_new = l->files->here ? 0 : hidden_file_recover(name);
    struct stat st;

    if (is_new < 0)
        return -1;
    if (lstat(name, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? note_missing(l, name) : -1;
    return is_new && k->n_marks > 0 && !is_marked(l, k, file, &st)
               ? note_missing(l, name)
               : 0;
}

static int is_lost(void *arg, const struct kept *k, struct es_error *err)
{
    struct look *l = arg;
    char name[FILE_NAME_MAX];
    int rc = 0;

    for (uint32_t i = 0; i < l->files->n_returned && rc == 0; i++) {
        if (piece_files_name(l->files, i, k, journal_frame(l->journal, k), name,
                             err)
            < 0)
            return -1;
        rc = is_missing(l, k, i, name);
        if (rc < 0)
            es_fail(err, ES_WORK, es_mend_file(errno),
                    "--return: %.400s, which a run before has made: %s", name,
                    strerror(errno));
    }
    return rc;
}

/* Of several pieces none has any: it is the folder that is another one. */
static int check_folder(struct look *l, struct es_error *err)
{
    size_t n, pieces = 0;
    const struct kept *k = journal_counting(l->journal, &n);
    char name[FILE_NAME_MAX];

    for (size_t i = 0; i < n; i++) {
        const struct frame *frame = journal_frame(l->journal, &k[i]);

        if (k[i].failed)
            continue;
        pieces++;
        for (uint32_t f = 0; f < l->files->n_returned; f++)
            if (piece_files_name(l->files, f, &k[i], frame, name, err) < 0)
                return -1;
            else if (access(name, F_OK) == 0)
                return 0;
    }
    return pieces < 2
               ? 0
               : es_fail(err, ES_USAGE,
                         "resume in the folder of before, or begin anew "
                         "without --resume",
                         "--return: of the files that a run before has made, "
                         "as %.400s, none is here",
                         name);
}

static int find_returned(struct look *l, struct es_error *err)
{
    if (l->files->n_returned == 0)
        return 0;
    if (check_folder(l, err) < 0)
        return -1;
    if (journal_drop(l->journal, is_lost, l, err) < 0)
        return -1;
    if (l->missing == 1)
        notice("--return: %.400s, which a run before has made, is missing: its "
               "piece is done again",
               l->first);
    else if (l->missing > 1)
        notice(
            "--return: %.400s and %zu more files, which a run before has made, "
            "are missing: their pieces are done again",
            l->first, l->missing - 1);
    return 0;
}

/* --- pieces that do not ------------------------------------------------------ */

static int add_left(struct look *l,
                    const struct kept *k,
                    uint32_t which,
                    const char *name,
                    struct es_error *err)
{
    struct left *left =
        array_grow(l->left, &l->room, l->n + 1, sizeof *left, SIZE_MAX);
    char *copy = strdup(name);

    if (left)
        l->left = left;
    if (!left || !copy) {
        free(copy);
        return es_no_memory(err);
    }
    left[l->n++] = (struct left){.name = copy, .piece = k, .which = which};
    return 0;
}

/* Call fn with the name of each file that a piece has, or may have had. */
static int for_names(struct look *l,
                     const struct kept *k,
                     int (*fn)(struct look *l,
                               const struct kept *k,
                               uint32_t which,
                               const char *name,
                               struct es_error *err),
                     struct es_error *err)
{
    uint32_t n = l->files->n_returned + (l->files->output != NULL);
    const struct frame *frame = journal_frame(l->journal, k);
    char name[FILE_NAME_MAX];
    struct es_error why;

    for (uint32_t i = 0; i < n && !k->failed; i++) {
        if (piece_files_name(l->files, i, k, frame, name, &why) == 0) {
            if (fn(l, k, i, name, err) < 0)
                return -1;
        } else if (why.kind != ES_USAGE) { /* else there is no such file */
            *err = why;
            return -1;
        }
    }
    return 0;
}

static int note_gone(struct look *l,
                     const struct kept *k,
                     uint32_t which,
                     const char *name,
                     struct es_error *err)
{
    struct stat st;

    return lstat(name, &st) == 0 && S_ISREG(st.st_mode)
               ? add_left(l, k, which, name, err)
               : 0;
}

static int by_name(const void *a, const void *b)
{
    const struct left *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Several pieces that do not count may have had it, one after the other. */
static int note_needed(struct look *l,
                       const struct kept *k,
                       uint32_t which,
                       const char *name,
                       struct es_error *err)
{
    const struct left key = {.name = (char *)name};
    struct left *found = bsearch(&key, l->left, l->n, sizeof *l->left, by_name);

    (void)which, (void)err;
    while (found && found > l->left && by_name(found - 1, &key) == 0)
        found--;
    for (; found && found < l->left + l->n && by_name(found, &key) == 0;
         found++)
        found->needed = k;
    return 0;
}

/* What pieces that do not count may have made, and which of it others have. */
static int collect(struct look *l, struct es_error *err)
{
    size_t n;
    const struct kept *k = journal_gone(l->journal, &n);

    for (size_t i = 0; i < n; i++)
        if (for_names(l, &k[i], note_gone, err) < 0)
            return -1;
    if (l->n == 0)
        return 0;
    qsort(l->left, l->n, sizeof *l->left, by_name);
    k = journal_counting(l->journal, &n);
    for (size_t i = 0; i < n; i++)
        if (for_names(l, &k[i], note_needed, err) < 0)
            return -1;
    return 0;
}

static int is_output_of(const struct look *l, const struct kept *k, int fd)
{
    return k && journal_is_output(l->journal, k, fd) == 1;
}

/* Is it still as that piece has written it, and not as one that counts has? */
static int is_stale(const struct look *l, const struct left *f)
{
    int fd = open(f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    int rc;

    if (fd < 0)
        return 0;
    rc = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (rc && f->which < l->files->n_returned)
        rc = !f->needed && is_marked(l, f->piece, f->which, &st);
    else if (rc)
        rc = is_output_of(l, f->piece, fd) && !is_output_of(l, f->needed, fd);
    close(fd); /* only read */
    return rc;
}

static void remove_all(const struct look *l)
{
    size_t removed = 0, others = 0;
    const char *first = NULL;

    for (size_t i = 0; i < l->n; i++) {
        const struct left *f = &l->left[i];
        int is_last = i + 1 == l->n || by_name(f, f + 1) != 0;

        if (access(f->name, F_OK) < 0)
            continue;
        if (is_stale(l, f) && unlink(f->name) == 0) {
            removed++;
        } else if (is_last && !f->needed) {
            first = first ? first : f->name;
            others++;
        }
    }
    if (removed > 0)
        notice("%zu file%s of pieces that do not count any more: removed",
               removed, removed == 1 ? "" : "s");
    if (others > 0)
        notice(
            "%s: a piece that does not count any more has made it, but may not "
            "have been the last: it stays (%zu such)",
            first, others);
}

/* Show what was only kept; have pieces done again whose returned files are missing;
 * then remove the files of all that do not count.  To be called before the first
 * piece is sent.  0, or -1 and err filled. */
static int left_files_settle(const struct piece_files *f,
                             struct journal *j,
                             struct es_error *err)
{
    struct look l = {.files = f, .journal = j};
    int rc = find_returned(&l, err);

    if (rc == 0 && f->n_returned > 0)
        rc = journal_forget(j, err);
    if (rc == 0)
        rc = collect(&l, err);
    if (rc == 0)
        remove_all(&l);
    for (size_t i = 0; i < l.n; i++)
        free(l.left[i].name);
    free(l.left);
    return rc;
}

/* --- work ---------------------------------------------------------------------- */

static void name_mark(FILE *to, const char *name, const struct record_mark *m)
{
    if (m->given)
        fprintf(to, "%s %016jx ", name,
                (uintmax_t)XXH3_64bits(m->bytes, m->len));
}

static void name_lines(const struct work *w,
                       const struct record_rule *r,
                       int with_text,
                       FILE *to)
{
    fprintf(to, "lines ");
    if (with_text)
        fprintf(to, "%ju hash %016jx ", (uintmax_t)w->lines.n,
                (uintmax_t)w->lines.hash);
    if (r->lines > 1)
        fprintf(to, "record %ju ", (uintmax_t)r->lines);
    name_mark(to, "recstart", &r->start);
    name_mark(to, "recend", &r->end);
    if (r->header > 0)
        fprintf(to, "header %ju ", (uintmax_t)r->header);
}

/* The commands of --works, as a hash. */
static void name_types(const struct work_types *t, FILE *to)
{
    uint64_t hash = 0;

    for (size_t i = 1; i < t->n; i++) {
        hash = XXH3_64bits_withSeed(t->type[i].name,
                                    strlen(t->type[i].name) + 1, hash);
        for (char **word = t->type[i].command; *word; word++)
            hash = XXH3_64bits_withSeed(*word, strlen(*word) + 1, hash);
    }
    if (t->n > 1)
        fprintf(to, "works %016jx ", (uintmax_t)hash);
}

/* What the journal is of, in words, with the text of its units or without;
 * NULL: no memory. */
static char *name_work(const struct work *w,
                       const struct run_options *o,
                       int with_text)
{
    const struct extraction *x = &w->extraction;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    for (size_t i = 0; i < o->n_queues; i++)
        fprintf(to, "queue %s ", o->queue[i]);
    name_types(&o->types, to);
    if (o->lines)
        name_lines(w, &o->record, with_text, to);
    else if (o->n_queues == 0)
        fprintf(to, "range %ju:%ju ", (uintmax_t)x->begin, (uintmax_t)x->end);
    if (o->n_queues == 0)
        fprintf(to, "repeat %ju ", (uintmax_t)x->repeat);
    fprintf(to, "grain %ju", (uintmax_t)o->grain);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* Are these units' lines still as they were?  What follows them is to begin at
 * a grain, also where they were the last ones then. */
static int is_same(void *arg,
                   struct slice units,
                   uint64_t text,
                   struct es_error *err)
{
    const struct work *w = arg;
    uint64_t now;

    if (units.end > w->lines.n
        || (units.end < w->lines.n && units.end % w->grain != 0))
        return 0;
    if (lines_sum(&w->lines, units.begin, units.end, &now, err) < 0)
        return -1;
    return now == text;
}

/* Of tasks only. */
static int sums(void *arg, uint64_t **sum, uint64_t *n, struct es_error *err)
{
    const struct work *w = arg;

    *n = w->lines.n;
    *sum = calloc((size_t)*n + 1, sizeof **sum);
    if (!*sum)
        return es_no_memory(err);
    return *n > 0 ? task_text_sums(&w->lines, 0, *n, *sum, err) : 0;
}

/* Is a task the same wherever it stands in the list?  Not if its number is in its
 * command, or in the names of what it leaves. */
static int may_move(const struct run_options *o)
{
    static const char *const number[] = {"{#}", "{begin}", "{end}",
                                         "EVENSTEP_BEGIN", "EVENSTEP_END"};

    for (char **word = o->command; *word; word++)
        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            if (strstr(*word, number[i]))
                return 0;
    return !o->results;
}

/* That lines are not as they were is seen by nobody else. */
static void tell_changed(const struct work *w, const struct run_options *o)
{
    uint64_t n = journal_changed(w->journal);

    if (n > 0)
        notice("%s%s%ju %s%s changed since: %s again",
               o->list_path ? o->list_path : "", o->list_path ? ": " : "",
               (uintmax_t)n, o->is_tasks ? "line" : "task",
               n == 1 ? " has" : "s have", n == 1 ? "it runs" : "they run");
}

/* Of tasks only: a barrier may stand elsewhere since. */
static int place(void *arg, struct slice units, uint64_t *frame)
{
    const struct work *w = arg;

    return task_feed_place(w->extraction.feed, units, frame);
}

/* What tells one text from another; of a list that grows none is another's. */
static void name_text(const struct work *w,
                      const struct run_options *o,
                      char *text,
                      size_t size)
{
    if (o->each && o->follow)
        snprintf(text, size, "followed since %jd", (intmax_t)clock_ns());
    else
        snprintf(text, size, "%ju hash %016jx", (uintmax_t)w->lines.n,
                 (uintmax_t)w->lines.hash);
}

static int open_journal(struct work *w,
                        const struct run_options *o,
                        struct es_error *err)
{
    char *name = name_work(w, o, 0), *version1 = name_work(w, o, 1);
    char text[64];
    struct journal_work work = {.work = name,
                                .text = o->lines ? text : NULL,
                                .version1 = version1,
                                .command = o->command,
                                .is_same = o->lines ? is_same : NULL,
                                .sums = o->feed ? sums : NULL,
                                .may_move = o->feed && may_move(o),
                                .place = o->feed ? place : NULL,
                                .arg = w};
    int rc;

    name_text(w, o, text, sizeof text);
    if (name && version1)
        rc = journal_open(&w->journal, o->journal, &work,
                          o->resume_failed ? JOURNAL_REDO_FAILED
                          : o->resume      ? JOURNAL_RESUME
                                           : JOURNAL_NEW,
                          err);
    else
        rc = es_no_memory(err);
    free(name);
    free(version1);
    if (rc == 0)
        tell_changed(w, o);
    return rc;
}

static int open_tasks(struct work *w,
                      const struct run_options *o,
                      struct es_error *err)
{
    int fd = task_feed_file(o->feed);

    if (fd < 0)
        return es_no_memory(err);
    if ((o->follow ? lines_open_growing(&w->lines, fd, o->lines, err)
                   : lines_open_fd(&w->lines, fd, o->lines, err))
        < 0)
        return -1;
    w->extraction.end = w->lines.n;
    w->grows = o->follow;
    return 0;
}

int work_open(struct work *w,
              const struct run_options *o,
              struct event_base *base,
              void (*there)(void *arg),
              void *arg,
              struct es_error *err)
{
    struct queue_setup setup = {.path = o->queue,
                                .n = o->n_queues,
                                .types = o->works ? &o->types : NULL,
                                .by_type = !o->output && o->n_returned == 0,
                                .follow = o->follow};

    memset(w, 0, sizeof *w);
    w->extraction = o->work;
    w->grain = o->grain;
    piece_files_open(&w->files, o);
    w->extraction.feed = o->feed;
    if (o->feed) {
        if (open_tasks(w, o, err) < 0
            || task_feed_watch(o->feed, base, there, arg, err) < 0)
            return -1;
    } else if (o->lines) {
        if (lines_open(&w->lines, o->lines, &o->record, err) < 0)
            return -1;
        if (lines_look(&w->lines, err) < 0)
            return -1;
        w->extraction.end = w->lines.n;
    }
    if (o->journal && open_journal(w, o, err) < 0)
        return -1;
    if (setup.n == 0)
        return 0;
    setup.journal = w->journal;
    return queue_open(&w->extraction.queue, base, &setup, there, arg, err);
}

int work_look(struct work *w, struct es_error *err)
{
    return w->extraction.queue ? queue_look(w->extraction.queue, err) : 0;
}

int work_settle(struct work *w, struct es_error *err)
{
    return w->journal ? left_files_settle(&w->files, w->journal, err) : 0;
}

void work_tell_changes(const struct work *w)
{
    lines_tell_changes(&w->lines);
    if (w->extraction.queue)
        queue_tell_changes(w->extraction.queue);
}

void work_close(struct work *w)
{
    queue_close(w->extraction.queue);
    journal_close(w->journal);
    lines_close(&w->lines);
    memset(w, 0, sizeof *w);
}

/* --- one frame ------------------------------------------------------------ */

static int send_rest(struct distribution *d,
                     const struct frame *frame,
                     const struct kept *kept,
                     size_t n,
                     struct es_error *err)
{
    struct slice *done = calloc(n, sizeof *done);
    int rc;

    if (!done)
        return es_no_memory(err);
    for (size_t i = 0; i < n; i++)
        done[i] = kept[i].units;
    rc = distribution_send(d, frame, done, n, err);
    free(done);
    return rc;
}

static uint64_t units_kept(const struct kept *kept, size_t n)
{
    uint64_t units = 0;

    for (size_t i = 0; i < n; i++)
        units += kept[i].units.end - kept[i].units.begin;
    return units;
}

static int begin_frame(struct work *w,
                       const struct frame *frame,
                       struct distribution *d,
                       struct es_error *err)
{
    size_t n;
    const struct kept *kept = journal_kept(w->journal, frame->number, &n);

    if (piece_files_frame(&w->files, frame, err) < 0)
        return -1;
    if (n == 0)
        return distribution_send(d, frame, NULL, 0, err) < 0 ? -1 : WORK_BEGUN;
    if (kept[0].units.begin < frame->begin
        || kept[n - 1].units.end > frame->end)
        return es_fail(err, ES_USAGE, "name another file",
                       "--journal: has units that frame %ju has not",
                       (uintmax_t)frame->number + 1);
    if (piece_files_restore(&w->files, frame, w->journal, kept, n, err) < 0)
        return -1;
    if (units_kept(kept, n) >= frame->end - frame->begin && !frame->is_open) {
        distribution_keep(d, frame);
        return WORK_DONE;
    }
    return send_rest(d, frame, kept, n, err) < 0 ? -1 : WORK_BEGUN;
}

/* Those of the tasks that have come. */
static int take_lines(struct work *w, struct es_error *err)
{
    return w->grows ? lines_grow(&w->lines, err) : 0;
}

int work_next(struct work *w, struct distribution *d, struct es_error *err)
{
    struct frame frame;
    struct es_error later = {0};
    int is_ahead = distribution_open(d) > 0;
    int rc = extraction_next(&w->extraction, &frame, is_ahead ? &later : err);

    if (rc == EXTRACTED_LATER || (rc < 0 && is_ahead))
        return WORK_LATER;
    if (rc == EXTRACTED_END)
        return WORK_END;
    if (rc < 0 || take_lines(w, err) < 0)
        return -1;
    return begin_frame(w, &frame, d, err);
}

int work_is_open(const struct work *w)
{
    return w->extraction.feed && task_feed_is_open(w->extraction.feed);
}

int work_grow(struct work *w,
              struct distribution *d,
              struct frame *frame,
              struct es_error *err)
{
    uint64_t left;

    if (!w->extraction.feed || distribution_open(d) == 0)
        return 0;
    *frame = *distribution_newest(d, &left);
    if (!task_feed_grow(w->extraction.feed, frame))
        return 0;
    if (take_lines(w, err) < 0 || distribution_grow(d, frame, err) < 0)
        return -1;
    return 1;
}

uint64_t work_frames(const struct work *w)
{
    return w->extraction.repeat;
}

uint64_t work_units(const struct work *w)
{
    return w->extraction.end - w->extraction.begin;
}
