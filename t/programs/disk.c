/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk to be watched: preloaded into a program, it writes down what is
 * brought to the disk and what is given a name, in the order of it, and says
 * of locks what some file systems say.
 *
 *   DISK_LOG    file that gets "sync PATH" and "name PATH"
 *   DISK_FLOCK  errno of every flock(2)
 *   DISK_SLOW   milliseconds that an open(2) takes of a path with "slow" in it; each
 *               thread that has waited so tells "slow THREAD" once
 *   DISK_LOOK   the same of an access(2) of what is in a folder of such a path
 *   DISK_READ   the same of a pread(2) of a file that has such a path
 *   DISK_GATE   file that such a pread(2) waits for
 *   DISK_DENSE  no file has holes, as on FAT, and none gets larger than so many bytes:
 *               one that is to tells "full PATH"
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static void note(const char *what, const char *path)
{
    const char *name = getenv("DISK_LOG");
    int saved = errno;
    int fd =
        name ? open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd >= 0) {
        (void)dprintf(fd, "%s %s\n", what, path);
        close(fd);
    }
    errno = saved;
}

static void find_path(int fd, char path[4096])
{
    char link[32];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, 4095);
    path[n > 0 ? n : 0] = '\0';
}

static void note_fd(const char *what, int fd)
{
    char path[4096];

    find_path(fd, path);
    note(what, path);
}

static int (*next(const char *name))(int)
{
    int (*f)(int);

    *(void **)&f = dlsym(RTLD_NEXT, name);
    return f;
}

int flock(int fd, int operation)
{
    const char *error = getenv("DISK_FLOCK");
    int (*real)(int, int);

    if (error) {
        errno = atoi(error);
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "flock");
    return real(fd, operation);
}

static void tell_slow(void)
{
    static _Thread_local int told;
    char text[20];

    if (!told++) {
        snprintf(text, sizeof text, "%d", (int)gettid());
        note("slow", text);
    }
}

static void wait_for_disk(const char *ms)
{
    int n = atoi(ms);
    struct timespec nap = {n / 1000, n % 1000 * 1000000L};

    tell_slow();
    while (nanosleep(&nap, &nap) < 0) /* a signal is not heeded by a disk */
        ;
}

static void wait_for_gate(const char *gate)
{
    tell_slow();
    while (faccessat(AT_FDCWD, gate, F_OK, 0) != 0)
        usleep(10000);
}

int open(const char *path, int flags, ...)
{
    const char *ms = getenv("DISK_SLOW");
    int (*real)(const char *, int, ...), mode;
    va_list more;

    va_start(more, flags);
    mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    if (ms && strstr(path, "slow"))
        wait_for_disk(ms);
    *(void **)&real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

int access(const char *path, int how)
{
    const char *ms = getenv("DISK_LOOK"), *slow = strstr(path, "slow");

    if (ms && slow && strchr(slow, '/'))
        wait_for_disk(ms);
    return faccessat(AT_FDCWD, path, how, 0);
}

ssize_t pread(int fd, void *bytes, size_t len, off_t at)
{
    const char *ms = getenv("DISK_READ"), *gate = getenv("DISK_GATE");
    ssize_t (*real)(int, void *, size_t, off_t);
    char path[4096] = "";

    if (ms || gate)
        find_path(fd, path);
    if (ms && strstr(path, "slow"))
        wait_for_disk(ms);
    if (gate && strstr(path, "slow"))
        wait_for_gate(gate);
    *(void **)&real = dlsym(RTLD_NEXT, "pread");
    return real(fd, bytes, len, at);
}

int fsync(int fd)
{
    note_fd("sync", fd);
    return next("fsync")(fd);
}

int fdatasync(int fd)
{
    note_fd("sync", fd);
    return next("fdatasync")(fd);
}

int ftruncate(int fd, off_t len)
{
    const char *most = getenv("DISK_DENSE");
    int (*real)(int, off_t);

    if (most && len > atoll(most)) {
        note_fd("full", fd);
        errno = ENOSPC;
        return -1;
    }
    if (most && fallocate(fd, 0, 0, len) < 0)
        return -1;
    *(void **)&real = dlsym(RTLD_NEXT, "ftruncate");
    return real(fd, len);
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
    int (*real)(int, const char *, int, const char *);

    note("name", to);
    *(void **)&real = dlsym(RTLD_NEXT, "renameat");
    return real(from_at, from, to_at, to);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
    int (*real)(int, const char *, int, const char *, int);

    note("name", to);
    *(void **)&real = dlsym(RTLD_NEXT, "linkat");
    return real(at, from, to_at, to, flags);
}
