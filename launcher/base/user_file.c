/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/user_file.h"
#include "launcher/base/file_place.h"
#include "launcher/base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which of our own open files it is, or -1. */
static int own_number(const struct file_place *p)
{
    struct stat own;

    return p->is_open && stat("/proc/self/fd", &own) == 0
                   && own.st_dev == p->folder.st_dev
                   && own.st_ino == p->folder.st_ino
               ? atoi(p->name)
               : -1;
}

/* What is open already is not emptied, and goes on where it is. */
static int open_place(const struct file_place *p, int flags)
{
    int own = own_number(p);

    if (own >= 0)
        return fcntl(own, F_DUPFD_CLOEXEC, 0);
    if (p->is_open)
        return openat(p->dir, p->name, O_WRONLY | O_APPEND | O_CLOEXEC);
    if ((flags & O_ACCMODE) == O_RDONLY)
        flags |= O_WRONLY;
    return openat(p->dir, p->name, O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags,
                  0666);
}

/* Whoever empties it has it alone, where there are locks, until he closes it. */
static const char *empty_file(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return "another run is writing it";
    return ftruncate(fd, 0) < 0 ? strerror(errno) : NULL;
}

/* May it be written to, and is it emptied then? */
static const char *take(int fd, const struct file_place *p, int empty)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return strerror(errno);
    if (p->is_open)
        return NULL;
    if (file_place_is_of_another(&st, &p->folder))
        return file_place_of_another;
    return empty && S_ISREG(st.st_mode) ? empty_file(fd) : NULL;
}

static int open_file(const char *path, int flags, int empty, const char **why)
{
    struct file_place p;
    int fd;

    *why = NULL;
    if (strcmp(path, "-") == 0)
        path = "/proc/self/fd/1";
    if (file_place_find(&p, path, why) < 0)
        return -1;
    fd = open_place(&p, flags);
    *why = take(fd, &p, empty);
    file_place_close(&p);
    if (!*why)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int user_file_open(const char *path, int flags, const char **why)
{
    return open_file(path, flags, 0, why);
}

int user_file_create(const char *path, int flags, const char **why)
{
    return open_file(path, flags, 1, why);
}

static int copy_stdin(int to)
{
    char bytes[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, bytes, sizeof bytes)) != 0)
        if ((n < 0 && errno != EINTR)
            || (n > 0 && write_all(to, bytes, (size_t)n) < 0))
            return -1;
    return 0;
}

const char *user_file_in(const char *path)
{
    static char copied[40]; /* there is one stdin */
    int fd;

    if (strcmp(path, "-") != 0)
        return path;
    if (copied[0])
        return copied;
    fd = memfd_create("stdin", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (copy_stdin(fd) < 0) {
        close(fd);
        return NULL;
    }
    snprintf(copied, sizeof copied, "/proc/self/fd/%d", fd);
    return copied;
}

int user_file_sync_name(const char *path)
{
    struct file_place p;
    const char *why;
    int rc;

    if (file_place_find(&p, path, &why) < 0)
        return -1;
    rc = file_place_sync(p.dir);
    file_place_close(&p);
    return rc;
}
