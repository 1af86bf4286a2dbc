/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_add.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/run/task_need.h"
#include "launcher/run/task_source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL 256 /* bytes at a list's end in which the line that ends it is */

struct list { /* that grows */
    const char *path;
    int fd;
    int is_file;
    off_t size;
    int is_torn; /* its last line has no newline */
    int is_closed;
};

/* --- what is added -------------------------------------------------------- */

static int write_lines(struct task_reader *from, FILE *to, struct es_error *err)
{
    struct task_row row = {0};
    int rc;

    while ((rc = task_reader_next(from, &row, err)) > 0)
        if (rc == ROW_BARRIER) {
            (void)fputs(TASK_LINE_BARRIER "\n", to);
        } else {
            if (row.need.line > 0)
                task_need_print(to, &row.need);
            (void)(fwrite(row.value[0].at, 1, row.value[0].len, to)
                   + (size_t)fputc('\n', to));
        }
    free(row.value);
    return rc;
}

/* Read them whole: who waits for input holds no lock. */
static int read_lines(const char *lines,
                      int closes,
                      FILE *to,
                      struct es_error *err)
{
    struct task_sources s = {.commands = 1};
    struct task_reader *from = NULL;
    int rc = 0;

    if (lines) {
        rc = task_sources_file(&s, "--add", lines, err);
        from = rc == 0 ? task_reader_open(&s, 0, err) : NULL;
        rc = from ? write_lines(from, to, err) : -1;
        task_reader_close(from);
    }
    if (closes)
        (void)fputs(TASK_LINE_END "\n", to);
    return rc;
}

/* --- the list ------------------------------------------------------------- */

static int refuse(const struct list *l, const char *why, struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "name the file of a list, as in: evenstep tasks --follow "
                   "FILE",
                   "%s: %s", l->path, why);
}

static int open_list(struct list *l, struct es_error *err)
{
    struct stat st;

    l->fd = stat(l->path, &st) == 0 && S_ISFIFO(st.st_mode)
                ? open(l->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                : open(l->path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (l->fd < 0 && errno == ENXIO)
        return refuse(l, "no run follows this pipe", err);
    if (l->fd < 0 || fstat(l->fd, &st) < 0)
        return refuse(l, strerror(errno), err);
    l->is_file = S_ISREG(st.st_mode);
    if (!l->is_file && !S_ISFIFO(st.st_mode))
        return refuse(l, "is neither a file nor a named pipe", err);
    if (!l->is_file && fcntl(l->fd, F_SETFL, 0) < 0)
        return refuse(l, strerror(errno), err);
    return 0;
}

static void lock(const struct list *l)
{
    int rc;

    do
        rc = flock(l->fd, LOCK_EX);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        notice("warning: %s: cannot be locked: %s: lines that others add at "
               "the same time may come between these",
               l->path, strerror(errno));
}

/* By its last line; the lock is held. */
static int look_at_end(struct list *l, struct es_error *err)
{
    static const char end[] = TASK_LINE_END;
    size_t n = sizeof end - 1, len;
    char tail[TAIL];
    struct stat st;
    ssize_t got;

    if (!l->is_file)
        return 0;
    if (fstat(l->fd, &st) < 0)
        return refuse(l, strerror(errno), err);
    l->size = st.st_size;
    got = pread(l->fd, tail, sizeof tail, l->size > TAIL ? l->size - TAIL : 0);
    if (got < 0)
        return refuse(l, strerror(errno), err);
    len = (size_t)got;
    l->is_torn = len > 0 && tail[len - 1] != '\n';
    while (len > 0 && isspace((unsigned char)tail[len - 1]))
        len--;
    l->is_closed = len >= n && memcmp(tail + len - n, end, n) == 0
                   && (len == n ? l->size <= TAIL : tail[len - n - 1] == '\n');
    return 0;
}

/* All or nothing. */
static int append(const struct list *l,
                  const char *text,
                  size_t len,
                  struct es_error *err)
{
    int rc = l->is_torn ? write_all(l->fd, "\n", 1) : 0;

    if (rc == 0)
        rc = write_all(l->fd, text, len);
    if (rc == 0)
        return 0;
    es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s: nothing was added",
            l->path, strerror(errno));
    if (l->is_file && ftruncate(l->fd, l->size) < 0)
        notice("warning: %s: ends with a part of what was to be added: %s",
               l->path, strerror(errno));
    return -1;
}

static int add_text(struct list *l,
                    const char *text,
                    size_t len,
                    int closes,
                    struct es_error *err)
{
    lock(l);
    if (look_at_end(l, err) < 0)
        return -1;
    if (!l->is_closed)
        return append(l, text, len, err);
    if (closes && len == sizeof TASK_LINE_END) {
        notice("%s: has ended before", l->path);
        return 0;
    }
    return es_fail(
        err, ES_USAGE, "add to another list: nothing behind that line is run",
        "%s: has ended: \"" TASK_LINE_END "\" is its last line", l->path);
}

int task_add(const char *path,
             const char *lines,
             int closes,
             struct es_error *err)
{
    struct list l = {.path = path, .fd = -1};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    int rc;

    if (!to)
        return es_no_memory(err);
    rc = read_lines(lines, closes, to, err);
    if (fclose(to) != 0 && rc == 0)
        rc = es_no_memory(err);
    if (rc == 0)
        rc = open_list(&l, err);
    if (rc == 0 && len == 0)
        notice("%s: no lines: nothing was added", lines);
    else if (rc == 0)
        rc = add_text(&l, text, len, closes, err);
    if (l.fd >= 0 && close(l.fd) < 0 && rc == 0)
        rc = es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s", path,
                     strerror(errno));
    free(text);
    return rc;
}
