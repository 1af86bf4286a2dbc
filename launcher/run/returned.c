/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/returned.h"
#include "launcher/base/hidden_file.h"
#include "launcher/base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

int returned_follows(const struct returned *r, const struct msg_file *m)
{
    if (m->file == r->n)
        return m->offset == 0;
    return m->file + 1 == r->n && m->offset == r->bytes && m->len > 0;
}

/* What is too large is told before it fills the disk, also where several come at
 * once: each takes the room that it needs at its first byte.  Some file systems
 * can only tell how much there is, and some (f_blocks 0) not even that. */
static int take_room(int fd, uint64_t bytes)
{
    struct statvfs fs;
    int rc;

    if (fstatvfs(fd, &fs) == 0 && fs.f_frsize > 0 && fs.f_blocks > 0
        && bytes / fs.f_frsize > fs.f_bavail) {
        errno = ENOSPC;
        return -1;
    }
    if (bytes == 0)
        return 0;
    do
        rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    while (rc < 0 && errno == EINTR);
    return rc < 0 && (errno == ENOSPC || errno == EDQUOT) ? -1 : 0;
}

static int add_file(struct returned *r,
                    const struct msg_file *m,
                    const char *name)
{
    mode_t mode = m->runs ? 0777 : 0666;
    struct hidden_file *file =
        reallocarray(r->file, r->n + (size_t)1, sizeof *file);

    if (!file)
        return -1;
    r->file = file;
    if (hidden_file_open(&file[r->n], name, mode) < 0)
        return -1;
    r->n++;
    r->bytes = 0;
    return take_room(file[r->n - 1].fd, m->size);
}

int returned_add(struct returned *r,
                 const struct msg_file *m,
                 const char *name,
                 struct es_error *err)
{
    if ((m->file == r->n && add_file(r, m, name) < 0)
        || write_all(r->file[r->n - 1].fd, m->bytes, m->len) < 0)
        return es_fail(err, ES_WORK, es_mend_file(errno),
                       "--return: %.400s: %s", name, strerror(errno));
    r->bytes += m->len;
    return 0;
}

struct file_mark file_mark_of(const struct stat *st)
{
    return (struct file_mark){.bytes = st->st_size,
                              .mtime_ns =
                                  (int64_t)st->st_mtim.tv_sec * 1000000000
                                  + st->st_mtim.tv_nsec};
}

static int add_mark(struct returned *r, const struct stat *st)
{
    struct file_mark *mark =
        reallocarray(r->mark, r->n_marks + (size_t)1, sizeof *mark);

    if (!mark)
        return -1;
    r->mark = mark;
    mark[r->n_marks++] = file_mark_of(st);
    return 0;
}

int returned_keep(struct returned *r)
{
    struct stat st;

    for (uint32_t i = 0; i < r->n; i++)
        if (hidden_file_keep(&r->file[i]) < 0 || fstat(r->file[i].fd, &st) < 0
            || add_mark(r, &st) < 0)
            return -1;
    return 0;
}

int returned_mark(struct returned *r, const char *name)
{
    struct stat st;

    return lstat(name, &st) < 0 ? -1 : add_mark(r, &st);
}

int returned_show(struct returned *r, int sync)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (hidden_file_show(&r->file[i], sync) < 0)
            return -1;
    returned_clear(r);
    return 0;
}

void returned_clear(struct returned *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        hidden_file_drop(&r->file[i]);
    free(r->file);
    free(r->mark);
    memset(r, 0, sizeof *r);
}
