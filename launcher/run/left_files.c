/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/left_files.h"
#include "launcher/base/hidden_file.h"
#include "launcher/base/notice.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int left_files_settle(const struct piece_files *f,
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
