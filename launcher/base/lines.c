/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/lines.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define BLOCK (64u << 10) /* bytes that are read at a time */

/* --- reading -------------------------------------------------------------- */

int lines_read(const struct lines *l,
               uint64_t at,
               void *bytes,
               size_t len,
               struct es_error *err)
{
    char *to = bytes;
    ssize_t n;

    for (; len > 0; to += n, at += (uint64_t)n, len -= (size_t)n) {
        n = pread(l->fd, to, len, (off_t)at);
        if (n > 0)
            continue;
        return es_fail(err, ES_WORK, "leave it as it is until the run is over",
                       "--lines: %s: %s", l->path,
                       n < 0 ? strerror(errno)
                             : "has become shorter since the start");
    }
    return 0;
}

static size_t block_at(const struct lines *l, uint64_t at)
{
    return l->size - at < BLOCK ? (size_t)(l->size - at) : BLOCK;
}

/* --- open ----------------------------------------------------------------- */

static int add_landmark(struct lines *l, uint64_t at, size_t *room)
{
    size_t n = (size_t)(l->n / LINES_STRIDE);
    uint64_t *landmark;

    if (l->n++ % LINES_STRIDE != 0)
        return 0;
    landmark = array_grow(l->landmark, room, n + 1, sizeof *landmark, SIZE_MAX);
    if (!landmark)
        return -1;
    l->landmark = landmark;
    landmark[n] = at;
    return 0;
}

/* Count the lines that begin behind a newline of this block.  Behind the last
 * newline of the file no line begins. */
static int add_lines(
    struct lines *l, const char *text, size_t len, uint64_t at, size_t *room)
{
    const char *end = text;

    while ((end = memchr(end, '\n', len - (size_t)(end - text))) != NULL) {
        uint64_t next = at + (uint64_t)(++end - text);

        if (next < l->size && add_landmark(l, next, room) < 0)
            return -1;
    }
    return 0;
}

static int find_lines(struct lines *l, char *block, struct es_error *err)
{
    XXH3_state_t *sum = XXH3_createState();
    size_t room = 0, len;
    int rc = sum && XXH3_64bits_reset(sum) == XXH_OK
             && add_landmark(l, 0, &room) == 0;

    for (uint64_t at = 0; rc && at < l->size; at += len) {
        len = block_at(l, at);
        if (lines_read(l, at, block, len, err) < 0) {
            XXH3_freeState(sum);
            return -1;
        }
        rc = XXH3_64bits_update(sum, block, len) == XXH_OK
             && add_lines(l, block, len, at, &room) == 0;
    }
    if (rc)
        l->hash = XXH3_64bits_digest(sum);
    XXH3_freeState(sum);
    return rc ? 0 : es_no_memory(err);
}

static int refuse_file(const char *path, const char *why, struct es_error *err)
{
    return es_fail(err, ES_USAGE, "name a file of lines that you may read",
                   "--lines: %s: %s", path, why);
}

static int scan_file(struct lines *l, struct es_error *err)
{
    struct stat st;
    char *block;
    int rc;

    if (fstat(l->fd, &st) < 0)
        return refuse_file(l->path, strerror(errno), err);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return es_fail(err, ES_USAGE, "name a file of lines", "--lines: %s: %s",
                       l->path,
                       st.st_size == 0 ? "is empty" : "is no regular file");
    l->size = (uint64_t)st.st_size;
    block = malloc(BLOCK);
    if (!block)
        return es_no_memory(err);
    rc = find_lines(l, block, err);
    free(block);
    return rc;
}

int lines_open(struct lines *l, const char *path, struct es_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *l = (struct lines){.path = path, .fd = fd};
    if (fd < 0) {
        memset(l, 0, sizeof *l);
        return refuse_file(path, strerror(errno), err);
    }
    if (scan_file(l, err) == 0)
        return 0;
    lines_close(l);
    return -1;
}

void lines_close(struct lines *l)
{
    if (l->path)
        close(l->fd);
    free(l->landmark);
    memset(l, 0, sizeof *l);
}

/* --- where lines are ------------------------------------------------------ */

/* Move *at on by so many lines. */
static int skip_lines(const struct lines *l,
                      uint64_t lines,
                      uint64_t *at,
                      char *block,
                      struct es_error *err)
{
    while (lines > 0 && *at < l->size) {
        size_t len = block_at(l, *at);
        const char *end = block;

        if (lines_read(l, *at, block, len, err) < 0)
            return -1;
        while (lines > 0 && end
               && (end = memchr(end, '\n', len - (size_t)(end - block))))
            end++, lines--;
        *at += end ? (size_t)(end - block) : len;
    }
    return 0;
}

static int begin_of(const struct lines *l,
                    uint64_t line,
                    uint64_t *at,
                    char *block,
                    struct es_error *err)
{
    if (line >= l->n) {
        *at = l->size;
        return 0;
    }
    *at = l->landmark[line / LINES_STRIDE];
    return skip_lines(l, line % LINES_STRIDE, at, block, err);
}

int lines_find(const struct lines *l,
               uint64_t begin,
               uint64_t end,
               uint64_t *from,
               uint64_t *to,
               struct es_error *err)
{
    char *block = malloc(BLOCK);
    int rc = -1;

    if (!block)
        return es_no_memory(err);
    if (begin_of(l, begin, from, block, err) == 0
        && begin_of(l, end, to, block, err) == 0)
        rc = 0;
    free(block);
    return rc;
}
