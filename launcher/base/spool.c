/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/spool.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        /* A pipe that is ready takes PIPE_BUF bytes without blocking.  And
         * poll(), unlike write(), always ends when a signal is caught. */
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        ssize_t n;

        if (poll(&ready, 1, -1) < 0)
            return -1;
        n = write(fd, at, len < PIPE_BUF ? len : PIPE_BUF);
        if (n < 0 && errno != EAGAIN)
            return -1;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int spool_open_file(void)
{
    const char *dir = getenv("TMPDIR");
    char name[] = "/tmp/evenstep-spool.XXXXXX";
    int fd;

    if (!dir || !*dir)
        dir = "/tmp";
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    fd = mkostemp(name, O_CLOEXEC); /* some file systems have no O_TMPFILE */
    if (fd >= 0)
        (void)unlink(name);
    return fd;
}

/* Move what is in memory to the file. */
static int spill_to_file(struct spool *s)
{
    if (s->fd == 0) {
        int fd = spool_open_file();

        if (fd < 0)
            return -1;
        s->fd = fd;
    }
    /* A write that failed before may have left bytes behind s->in. */
    if (lseek(s->fd, (off_t)s->in, SEEK_SET) < 0
        || write_all(s->fd, s->text, s->len) < 0)
        return -1;
    s->in += s->len;
    s->len = 0;
    return 0;
}

static int grow_memory(struct spool *s, size_t need)
{
    char *text = array_grow(s->text, &s->cap, need, 1, SIZE_MAX);

    if (!text)
        return -1;
    s->text = text;
    return 0;
}

int spool_add(struct spool *s, const void *bytes, size_t len)
{
    if (len == 0)
        return 0;
    if (s->len + len > SPOOL_MEMORY && s->len > 0 && spill_to_file(s) < 0)
        return -1;
    if (grow_memory(s, s->len + len) < 0)
        return -1;
    memcpy(s->text + s->len, bytes, len);
    s->len += len;
    return 0;
}

uint64_t spool_size(const struct spool *s)
{
    return s->in + s->len;
}

int spool_read(const struct spool *s, uint64_t at, void *bytes, size_t len)
{
    char *to = bytes;

    while (len > 0 && at < s->in) {
        size_t want = s->in - at < len ? (size_t)(s->in - at) : len;
        ssize_t n = pread(s->fd, to, want, (off_t)at);

        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return -1;
        }
        to += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    if (len > 0)
        memcpy(to, s->text + (at - s->in), len);
    return 0;
}

int spool_write_to(struct spool *s, int fd)
{
    char block[65536];
    uint64_t at = 0;

    while (at < s->in) {
        size_t want = s->in - at < sizeof block ? s->in - at : sizeof block;
        ssize_t n = pread(s->fd, block, want, (off_t)at);

        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return -1;
        }
        if (write_all(fd, block, (size_t)n) < 0)
            return -1;
        at += (uint64_t)n;
    }
    return write_all(fd, s->text, s->len);
}

void spool_cut(struct spool *s, uint64_t size)
{
    s->len = size > s->in ? (size_t)(size - s->in) : 0;
    if (size < s->in)
        s->in = size; /* what is behind it in the file is written over */
}

void spool_clear(struct spool *s)
{
    int saved = errno;

    free(s->text);
    if (s->fd > 0)
        close(s->fd);
    memset(s, 0, sizeof *s);
    errno = saved;
}

const char *spool_mend(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "free some space in TMPDIR";
    case EFBIG:
        return "raise ulimit -f";
    case ENOMEM:
        return "free some memory";
    default:
        return "give another folder as TMPDIR";
    }
}
