/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/journal_output.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT  49152u /* bytes in one line, 64 KiB in base64 */
#define VARIANT sodium_base64_VARIANT_ORIGINAL
#define BASE64  (OUTPUT / 3 * 4 + 1)

static const char output_head[] = "{\"type\":\"output\",\"data\":\"";

int journal_output_is(const char *line)
{
    return strncmp(line, output_head, sizeof output_head - 1) == 0;
}

int journal_output_put(struct record_log *l,
                       const struct spool *out,
                       int64_t *at)
{
    uint64_t size = spool_size(out);
    unsigned char bytes[OUTPUT];
    char line[sizeof output_head + BASE64 + 2];
    char *data = line + sizeof output_head - 1;

    memcpy(line, output_head, sizeof output_head);
    for (uint64_t done = 0; done < size;) {
        size_t n = size - done < OUTPUT ? (size_t)(size - done) : OUTPUT;

        if (spool_read(out, done, bytes, n) < 0)
            return -1;
        sodium_bin2base64(data, BASE64, bytes, n, VARIANT);
        memcpy(data + strlen(data), "\"}", 3);
        if (record_log_put(l, line, at) < 0)
            return -1;
        done += n;
    }
    return 0;
}

/* --- reading -------------------------------------------------------------- */

/* One line of output, whole, from *at on; its bytes in out.  -1 with errno. */
static ssize_t read_output(const struct record_log *l,
                           int64_t *at,
                           unsigned char out[OUTPUT])
{
    char line[sizeof output_head + BASE64 + RECORD_SUM_BYTES];
    ssize_t n = pread(l->fd, line, sizeof line - 1, *at);
    char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
    const char *data = line + sizeof output_head - 1, *stop;
    size_t len;

    if (n < 0)
        return -1;
    if (end && record_is_whole(line, (size_t)(end + 1 - line))
        && journal_output_is(line)) {
        stop = memchr(data, '"', (size_t)(end - data));
        if (stop
            && sodium_base642bin(out, OUTPUT, data, (size_t)(stop - data), NULL,
                                 &len, NULL, VARIANT)
                   == 0) {
            *at += end + 1 - line;
            return (ssize_t)len;
        }
    }
    errno = EBADMSG; /* libsodium has one of its own */
    return -1;
}

/* What is to be done with some bytes of a slice's output, which come one after the
 * other: 0, or what ends it. */
typedef int (*output_fn)(int fd, const unsigned char *bytes, size_t n);

static int for_output(const struct record_log *l,
                      const struct output_part *part,
                      int fd,
                      output_fn fn)
{
    uint64_t end = part->skip + part->bytes;
    unsigned char out[OUTPUT];
    int64_t at = part->at;
    int rc = 0;

    for (uint64_t done = 0; done < end && part->bytes > 0 && rc == 0;) {
        ssize_t n = read_output(l, &at, out);
        uint64_t from = part->skip > done ? part->skip - done : 0;
        uint64_t to = end - done;

        if (n > 0 && (uint64_t)n > part->whole - done) {
            errno = EBADMSG;
            return -1;
        }
        if (n < 0)
            return -1;
        if (to > (uint64_t)n)
            to = (uint64_t)n;
        if (from < to)
            rc = fn(fd, out + from, (size_t)(to - from));
        done += (uint64_t)n;
    }
    return rc;
}

static int write_bytes(int fd, const unsigned char *bytes, size_t n)
{
    return write_all(fd, bytes, n);
}

int journal_output_write(const struct record_log *l,
                         const struct output_part *part,
                         int fd)
{
    return for_output(l, part, fd, write_bytes);
}

/* 1: the file has others. */
static int compare_bytes(int fd, const unsigned char *bytes, size_t n)
{
    unsigned char there[4096];

    while (n > 0) {
        ssize_t len = read(fd, there, n < sizeof there ? n : sizeof there);

        if (len < 0)
            return -1;
        if (len == 0 || memcmp(there, bytes, (size_t)len) != 0)
            return 1;
        bytes += len;
        n -= (size_t)len;
    }
    return 0;
}

int journal_output_compare(const struct record_log *l,
                           const struct output_part *part,
                           int fd)
{
    struct stat st;
    int rc;

    if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return -1;
    if ((uint64_t)st.st_size != part->bytes)
        return 0;
    rc = for_output(l, part, fd, compare_bytes);
    return rc < 0 ? -1 : rc == 0;
}
