/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/returning.h"
#include "launcher/exec/file_name.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE 16 /* messages, before others have their turn */

struct returning {
    struct returning_setup setup;
    struct event *on_turn;
    uint64_t id;
    int here, held;
    int dir;         /* the command's folder */
    uint32_t n, at;  /* files, and which it is at */
    int fd;          /* of that; -1: it is not open */
    uint64_t offset; /* in it */
    uint64_t size;   /* when it was opened */
    uint32_t runs;
    char why[RETURNING_WHY_MAX]; /* "": all is well */
    char name[FILES_MAX][FILE_NAME_MAX];
    uint8_t bytes[OUTPUT_MAX];
};

static int fail(struct returning *r, const char *what, const char *why)
{
    snprintf(r->why, sizeof r->why, "--return: %.400s: %.200s", what, why);
    return -1;
}

/* --- opening -------------------------------------------------------------- */

static int is_link(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0
           && S_ISLNK(st.st_mode);
}

/* The folder of that name in dir, which is closed. */
static int go_into(struct returning *r, int dir, const char *name)
{
    int next = -1;

    if (strcmp(name, "..") == 0)
        (void)fail(r, r->name[r->at], "is not in the command's folder");
    else
        next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0 && !r->why[0])
        (void)fail(r, r->name[r->at],
                   is_link(dir, name) ? "has a link on its way, which is not "
                                        "followed"
                                      : strerror(errno));
    close(dir);
    return next;
}

/* The folder that a file is in, step by step; *last is the file's name there. */
static int find_folder(struct returning *r, const char *path, const char **last)
{
    char part[FILE_NAME_MAX];
    int dir = fcntl(r->dir, F_DUPFD_CLOEXEC, 0);

    for (const char *slash; dir >= 0 && (slash = strchr(path, '/'));
         path = slash + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (part[0] && strcmp(part, ".") != 0)
            dir = go_into(r, dir, part);
    }
    *last = path;
    if (dir < 0 && !r->why[0])
        (void)fail(r, r->name[r->at], strerror(errno));
    return dir;
}

static const char *judge(const struct stat *st)
{
    return S_ISREG(st->st_mode)   ? NULL
           : S_ISLNK(st->st_mode) ? "is a link, which is not followed"
           : S_ISDIR(st->st_mode) ? "is a folder"
                                  : "is no regular file";
}

/* What it is, is looked at before it is opened, as a device may do anything,
 * and then again. */
static int open_regular(struct returning *r, int dir, const char *name)
{
    struct stat st;
    const char *why;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(r, r->name[r->at], strerror(errno));
    why = judge(&st);
    if (why)
        return fail(r, r->name[r->at], why);
    r->fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, &st) < 0)
        return fail(r, r->name[r->at], strerror(errno));
    why = judge(&st);
    if (why)
        return fail(r, r->name[r->at], why);
    r->offset = 0;
    r->size = (uint64_t)st.st_size;
    r->runs = (st.st_mode & 0100) != 0;
    return 0;
}

static int open_file(struct returning *r)
{
    const char *last;
    int dir, rc;

    if (r->name[r->at][0] == '/')
        return fail(r, r->name[r->at], "is not in the command's folder");
    dir = find_folder(r, r->name[r->at], &last);
    if (dir < 0)
        return -1;
    rc = open_regular(r, dir, last);
    close(dir);
    return rc;
}

/* --- sending -------------------------------------------------------------- */

static void close_file(struct returning *r)
{
    if (r->fd >= 0)
        close(r->fd); /* only read from */
    r->fd = -1;
}

static ssize_t read_part(struct returning *r)
{
    uint64_t left = r->size - r->offset;
    ssize_t n;

    do
        n = pread(r->fd, r->bytes, left < OUTPUT_MAX ? left : OUTPUT_MAX,
                  (off_t)r->offset);
    while (n < 0 && errno == EINTR);
    return n;
}

/* One message, or the end of a file.  -1: r->why says it. */
static int send_part(struct returning *r)
{
    struct msg_file m = {.id = r->id, .file = r->at, .bytes = r->bytes};
    struct writer w = {0};
    ssize_t n;

    if (r->fd < 0 && open_file(r) < 0)
        return -1;
    n = r->here ? 0 : read_part(r);
    if (n < 0)
        return fail(r, r->name[r->at], strerror(errno));
    if (n == 0 && !r->here && r->size > 0)
        return fail(r, r->name[r->at], "has become shorter meanwhile");
    m.offset = r->offset;
    m.runs = r->runs;
    m.size = r->size;
    m.len = (size_t)n;
    if (!r->here && (n > 0 || r->offset == 0)) {
        msg_write_file(&w, &m);
        r->setup.send(r->setup.arg, MSG_FILE, &w);
    }
    r->offset += (uint64_t)n;
    if (n == 0 || r->offset == r->size) {
        close_file(r);
        r->at++;
    }
    return 0;
}

static void wait_turn(struct returning *r)
{
    const struct timeval now = {0, 0};

    if (!r->held && event_add(r->on_turn, &now) < 0)
        event_active(r->on_turn, EV_TIMEOUT, 0);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct returning *r = arg;
    int bad = r->why[0] != '\0';

    (void)fd;
    (void)what;
    for (int i = 0; i < AT_ONCE && !bad && !r->held && r->at < r->n; i++)
        bad = send_part(r) < 0;
    if (bad || r->at == r->n)
        r->setup.ended(r->setup.arg, bad ? r->why : NULL);
    else
        wait_turn(r);
}

/* --- public --------------------------------------------------------------- */

static void fill_names(struct returning *r)
{
    const struct returning_setup *s = &r->setup;
    struct es_error err;

    for (uint32_t i = 0; i < s->files->n && !r->why[0]; i++)
        if (file_name_fill(r->name[i], s->files->name[i], "return", s->run,
                           s->node, &err)
            < 0)
            snprintf(r->why, sizeof r->why, "%.690s", err.what);
}

struct returning *returning_start(const struct returning_setup *setup)
{
    struct returning *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->setup = *setup;
    r->id = setup->run->id;
    r->n = setup->files->n;
    r->here = setup->files->here != 0;
    r->fd = -1;
    r->dir = open(setup->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    r->on_turn = event_new(setup->base, -1, 0, on_turn, r);
    if (!r->on_turn) {
        returning_stop(r);
        return NULL;
    }
    if (r->dir < 0)
        (void)fail(r, setup->folder, strerror(errno));
    else
        fill_names(r);
    wait_turn(r);
    return r;
}

void returning_hold(struct returning *r, int on)
{
    int was = r->held;

    r->held = on;
    if (was && !on)
        wait_turn(r);
}

void returning_stop(struct returning *r)
{
    if (!r)
        return;
    if (r->on_turn)
        event_free(r->on_turn);
    close_file(r);
    if (r->dir >= 0)
        close(r->dir);
    free(r);
}
