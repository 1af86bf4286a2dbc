/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Behind the line that begins at `at`. */
static size_t next_line(const struct lines *l, size_t at)
{
    const char *end = memchr(l->text + at, '\n', l->size - at);

    return end ? (size_t)(end - l->text) + 1 : l->size;
}

static int find_lines(struct lines *l)
{
    size_t room = 0;

    for (size_t at = 0; at < l->size; at = next_line(l, at)) {
        if (l->n / LINES_STRIDE == room) {
            size_t *more =
                reallocarray(l->landmark, room = room * 2 + 64, sizeof *more);

            if (!more)
                return -1;
            l->landmark = more;
        }
        if (l->n % LINES_STRIDE == 0)
            l->landmark[l->n / LINES_STRIDE] = at;
        l->n++;
    }
    return 0;
}

static int cannot(const char *path, int why, struct es_error *err)
{
    return es_fail(err, ES_USAGE, "name a file of lines that you may read",
                   "--lines: %s: %s", path, strerror(why));
}

static int map_file(struct lines *l,
                    int fd,
                    const char *path,
                    struct es_error *err)
{
    struct stat st;
    void *text;

    if (fstat(fd, &st) < 0)
        return cannot(path, errno, err);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return es_fail(err, ES_USAGE, "name a file of lines", "--lines: %s: %s",
                       path,
                       st.st_size == 0 ? "is empty" : "is no regular file");
    text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return cannot(path, errno, err);
    l->text = text;
    l->size = (size_t)st.st_size;
    return 0;
}

int lines_open(struct lines *l, const char *path, struct es_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

    memset(l, 0, sizeof *l);
    if (fd < 0)
        return cannot(path, errno, err);
    rc = map_file(l, fd, path, err);
    close(fd);
    if (rc < 0)
        return -1;
    if (find_lines(l) < 0) {
        lines_close(l);
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    }
    l->hash = XXH3_64bits(l->text, l->size);
    return 0;
}

void lines_close(struct lines *l)
{
    if (l->text)
        (void)munmap((void *)(uintptr_t)l->text, l->size);
    free(l->landmark);
    memset(l, 0, sizeof *l);
}

static size_t begin_of(const struct lines *l, uint64_t line)
{
    size_t at;

    if (line >= l->n)
        return l->size;
    at = l->landmark[line / LINES_STRIDE];
    for (uint64_t i = 0; i < line % LINES_STRIDE; i++)
        at = next_line(l, at);
    return at;
}

const char *lines_text(const struct lines *l,
                       uint64_t begin,
                       uint64_t end,
                       size_t *len)
{
    size_t from = begin_of(l, begin);

    *len = begin_of(l, end) - from;
    return l->text + from;
}
