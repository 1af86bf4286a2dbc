/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NS_PER_S 1000000000

int file_write_at(int fd, const void *bytes, size_t len, uint64_t at)
{
    const uint8_t *p = bytes;

    while (len > 0) {
        ssize_t n = pwrite(fd, p, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        p += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

int file_read_at(int fd, void *bytes, size_t len, uint64_t at)
{
    uint8_t *p = bytes;

    while (len > 0) {
        ssize_t n = pread(fd, p, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : ENODATA;
        p += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

/* Of a regular file: 0, or an errno value: ENODATA if it has fewer bytes, EFBIG if
 * it has more. */
static int compare_size(int fd, uint64_t size)
{
    uint8_t byte;
    int why = size > 0 ? file_read_at(fd, &byte, 1, size - 1) : 0;

    if (why)
        return why;
    why = file_read_at(fd, &byte, 1, size);
    return why == ENODATA ? 0 : why == 0 ? EFBIG : why;
}

/* Do file systems like this one make up their files as they are read?  One without
 * blocks does, and a file without a byte costs nothing to look at. */
static int may_lie(int fd, const struct stat *st)
{
    struct statvfs fs;

    return S_ISREG(st->st_mode)
           && (st->st_size == 0
               || (fstatvfs(fd, &fs) == 0 && fs.f_blocks == 0));
}

int file_check_size(const char *path, struct es_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int why;

    if (fd < 0)
        return es_fail(err, ES_WORK, "give files that can be read", "%s: %s",
                       path, strerror(errno));
    why = fstat(fd, &st) < 0  ? errno
          : !may_lie(fd, &st) ? 0
                              : compare_size(fd, (uint64_t)st.st_size);
    close(fd);
    if (why == 0)
        return 0;
    if (why != ENODATA && why != EFBIG)
        return es_fail(err, ES_WORK, "give files that can be read", "%s: %s",
                       path, strerror(why));
    return es_fail(
        err, ES_WORK, "write what it has to a file first, or leave it out",
        "%s: it has %s bytes than its size of %lld, as files of "
        "/proc and /sys may",
        path, why == EFBIG ? "more" : "fewer", (long long)st.st_size);
}

void file_times(struct timespec times[2], int64_t mtime_ns)
{
    times[0] = (struct timespec){0, UTIME_OMIT};
    times[1] = (struct timespec){mtime_ns / NS_PER_S, mtime_ns % NS_PER_S};
    if (times[1].tv_nsec < 0) { /* before 1970: seconds round down */
        times[1].tv_nsec += NS_PER_S;
        times[1].tv_sec--;
    }
}
