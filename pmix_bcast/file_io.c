/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <sys/stat.h>
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

void file_times(struct timespec times[2], int64_t mtime_ns)
{
    times[0] = (struct timespec){0, UTIME_OMIT};
    times[1] = (struct timespec){mtime_ns / NS_PER_S, mtime_ns % NS_PER_S};
    if (times[1].tv_nsec < 0) { /* before 1970: seconds round down */
        times[1].tv_nsec += NS_PER_S;
        times[1].tv_sec--;
    }
}
