/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link that flips a bit: preloaded into a program, it does so with what is sent
 * of chunks (pmix_bcast/link_send.c), as bad memory or a bad cable would.
 *
 *   FLIP_IN   home, tree, pull: what the front end sends; what a node passes on;
 *             what it sends to one that has asked for it
 *   FLIP_AT   the first piece of those that has it, from 1, in each process; a
 *             piece has 1000 bytes or more
 *   FLIP_N    and how many in all
 *   FLIP_LOG  file that gets a line of each: "tree plain", "pull packed", ...
 */
#include "pmix_bcast/link.h"

#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE  (4u << 20)
#define FDS    1024
#define CHUNKS 65536u

static struct link_head sending[FDS]; /* the last head that went there */
static char asked[CHUNKS];            /* a peer has asked for that chunk */

static long number(const char *name)
{
    const char *text = getenv(name);

    return text ? atol(text) : 0;
}

static const struct link_head *head_of(int fd)
{
    static const struct link_head none;

    return fd >= 0 && fd < FDS ? &sending[fd] : &none;
}

static const char *way_of(const struct link_head *h)
{
    if (!getenv("EVENSTEP_AGENT"))
        return "home";
    return asked[h->chunk % CHUNKS] ? "pull" : "tree";
}

static int is_due(int fd, size_t len)
{
    static long piece;
    const char *in = getenv("FLIP_IN");

    if (len < 1000 || !in || head_of(fd)->type != LINK_CHUNK
        || strcmp(in, way_of(head_of(fd))) != 0)
        return 0;
    piece++;
    return piece >= number("FLIP_AT")
           && piece < number("FLIP_AT") + number("FLIP_N");
}

/* A head, as it stands there; what it says of bytes does not matter. */
static int read_head(struct link_head *h, const void *bytes)
{
    const unsigned char *at = bytes;
    uint32_t word[2];

    memcpy(word, at + 16, sizeof word);
    *h = (struct link_head){.type = (uint16_t)(at[4] << 8 | at[5]),
                            .chunk = be32toh(word[0]),
                            .flags = be32toh(word[1])};
    return memcmp(at, "EVS2", 4) == 0 ? 0 : -1;
}

static void note(int fd)
{
    const struct link_head *h = head_of(fd);
    const char *name = getenv("FLIP_LOG");
    int to =
        name ? open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (to >= 0) {
        (void)dprintf(to, "%s %s\n", way_of(h),
                      h->flags & (LINK_LZ4 | LINK_ZSTD) ? "packed" : "plain");
        close(to);
    }
}

static ssize_t really(int fd, const void *bytes, size_t len, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int);

    *(void **)&real = dlsym(RTLD_NEXT, "send");
    return real(fd, bytes, len, flags);
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    static unsigned char copy[PIECE];
    struct link_head h;

    if (len == LINK_HEAD && fd >= 0 && fd < FDS && read_head(&h, bytes) == 0)
        sending[fd] = h;
    if (len > sizeof copy || !is_due(fd, len))
        return really(fd, bytes, len, flags);
    memcpy(copy, bytes, len);
    copy[500] ^= 8;
    note(fd);
    return really(fd, copy, len, flags);
}

ssize_t sendfile(int to, int from, off_t *at, size_t len)
{
    static unsigned char copy[PIECE];
    ssize_t (*real)(int, int, off_t *, size_t);
    ssize_t n;

    *(void **)&real = dlsym(RTLD_NEXT, "sendfile");
    if (len > sizeof copy || !is_due(to, len)
        || pread(from, copy, len, *at) != (ssize_t)len)
        return real(to, from, at, len);
    copy[500] ^= 8;
    note(to);
    n = really(to, copy, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
        *at += n;
    return n;
}

/* Who asks for a chunk is heard here (pmix_bcast/link_receive.c); a head is the
 * last that is read. */
ssize_t readv(int fd, const struct iovec *to, int count)
{
    ssize_t (*real)(int, const struct iovec *, int);
    struct link_head h;
    size_t all = 0;
    ssize_t n;

    *(void **)&real = dlsym(RTLD_NEXT, "readv");
    n = real(fd, to, count);
    for (int i = 0; i < count; i++)
        all += to[i].iov_len;
    if (n > 0 && (size_t)n == all && to[count - 1].iov_len == LINK_HEAD
        && read_head(&h, to[count - 1].iov_base) == 0 && h.type == LINK_PULL)
        asked[h.chunk % CHUNKS] = 1;
    return n;
}
