/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_source.h"
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AHEAD (16u << 20) /* bytes that are read ahead of the link */

static int changed(const struct bcast_source *s, struct es_error *err)
{
    return es_fail(err, ES_WORK, "broadcast it when nobody writes to it",
                   "%s: it changes while it is read",
                   s->path ? s->path : "one of the files");
}

static int unreadable(const struct bcast_source *s, struct es_error *err)
{
    return es_fail(err, ES_WORK, "see that its file system is well", "%s: %s",
                   s->path, strerror(errno));
}

int bcast_source_open(struct bcast_source *s,
                      const char *path,
                      struct es_error *err)
{
    *s = BCAST_SOURCE_CLOSED;
    s->path = path;
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 || fstat(s->fd, &s->stat) < 0)
        return es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                       path, strerror(errno));
    if (S_ISDIR(s->stat.st_mode))
        return es_fail(err, ES_WORK,
                       "say that all in it is wanted (evenstep bcast -r)",
                       "%s: it is a directory", path);
    if (!S_ISREG(s->stat.st_mode))
        return es_fail(err, ES_WORK, "write it to a file first",
                       "%s: it is not a regular file", path);
    s->bytes = (uint64_t)s->stat.st_size;
    return 0;
}

void bcast_source_of_tree(struct bcast_source *s,
                          struct tree_source *tree,
                          int is_index)
{
    *s = BCAST_SOURCE_CLOSED;
    s->tree = tree;
    s->is_index = is_index;
    s->bytes = is_index ? tree->index.len : tree->index.bytes;
}

int bcast_source_check(const struct bcast_source *s, struct es_error *err)
{
    struct stat now;

    if (s->tree)
        return s->is_index ? 0 : tree_source_check(s->tree, err);
    if (fstat(s->fd, &now) == 0 && now.st_size == s->stat.st_size
        && now.st_mtim.tv_sec == s->stat.st_mtim.tv_sec
        && now.st_mtim.tv_nsec == s->stat.st_mtim.tv_nsec)
        return 0;
    return changed(s, err);
}

static int read_tree(const struct bcast_source *s,
                     uint8_t *bytes,
                     size_t len,
                     uint64_t at,
                     struct es_error *err)
{
    if (!s->is_index)
        return tree_source_read(s->tree, bytes, len, at, err);
    memcpy(bytes, s->tree->index.encoded + at, len);
    return 0;
}

const uint8_t *bcast_source_read_all(struct bcast_source *s,
                                     const struct plan *plan,
                                     struct es_error *err)
{
    ssize_t n;

    s->buffer = malloc(plan->chunk + 1u);
    if (!s->buffer) {
        (void)es_no_memory(err);
        return NULL;
    }
    if (s->tree)
        return read_tree(s, s->buffer, (size_t)plan->bytes, 0, err) == 0
                   ? s->buffer
                   : NULL;
    n = pread(s->fd, s->buffer, (size_t)plan->bytes + 1, 0);
    if (n < 0)
        (void)unreadable(s, err);
    else if (n != (ssize_t)plan->bytes)
        (void)changed(s, err);
    return n == (ssize_t)plan->bytes && bcast_source_check(s, err) == 0
               ? s->buffer
               : NULL;
}

int bcast_source_cut(struct bcast_source *s,
                     const struct plan *plan,
                     const struct secret *secret,
                     uint32_t broadcast,
                     struct es_error *err)
{
    s->plan = plan;
    s->buffer = malloc(plan->chunk);
    s->offset = calloc(plan->chunks + 1u, sizeof *s->offset);
    s->tag = calloc(plan->chunks + 1u, sizeof *s->tag);
    s->has_tag = calloc(plan->chunks + 1u, 1);
    s->seal = chunk_tag_seal(secret, broadcast);
    if (!s->buffer || !s->offset || !s->tag || !s->has_tag || !s->seal)
        return es_no_memory(err);
    plan_offsets(plan, s->offset);
    s->untagged = plan->chunks;
    if (s->tree && !s->is_index)
        chunk_recent_init(&s->recent, plan->chunk);
    return 0;
}

size_t bcast_source_size(const struct bcast_source *s, uint32_t chunk)
{
    return (size_t)(s->offset[chunk + 1] - s->offset[chunk]);
}

/* The disk shall not be waited for. */
static void read_ahead(struct bcast_source *s, uint64_t at)
{
    if (s->ahead > at + AHEAD / 2 || s->ahead >= s->plan->bytes)
        return;
    (void)posix_fadvise(s->fd, (off_t)s->ahead, AHEAD, POSIX_FADV_WILLNEED);
    s->ahead += AHEAD;
}

static int read_file(struct bcast_source *s,
                     uint32_t chunk,
                     struct es_error *err)
{
    int why;

    read_ahead(s, s->offset[chunk]);
    why = file_read_at(s->fd, s->buffer, bcast_source_size(s, chunk),
                       s->offset[chunk]);
    if (why == ENODATA)
        return changed(s, err);
    errno = why;
    return why ? unreadable(s, err) : 0;
}

static int read_chunk(struct bcast_source *s,
                      uint32_t chunk,
                      struct es_error *err)
{
    size_t size = bcast_source_size(s, chunk);

    if (!s->tree)
        return read_file(s, chunk, err);
    if (read_tree(s, s->buffer, size, s->offset[chunk], err) < 0)
        return -1;
    chunk_recent_put(&s->recent, chunk, s->buffer, size);
    return 0;
}

int bcast_source_read(struct bcast_source *s,
                      uint32_t chunk,
                      uint8_t *bytes,
                      struct es_error *err)
{
    size_t size = bcast_source_size(s, chunk);
    const uint8_t *recent = chunk_recent_get(&s->recent, chunk, &size);

    if (!recent)
        return read_tree(s, bytes, size, s->offset[chunk], err);
    memcpy(bytes, recent, size);
    return 0;
}

/* It is sent again: perhaps it came as another to who asks. */
static int check_again(struct bcast_source *s,
                       uint32_t chunk,
                       struct es_error *err)
{
    size_t size = bcast_source_size(s, chunk);

    if (read_chunk(s, chunk, err) < 0)
        return -1;
    if (seal_check(s->seal, chunk, s->buffer, size, s->tag[chunk].bytes) == 0)
        return 0;
    return errno == EBADMSG ? changed(s, err) : es_no_memory(err);
}

int bcast_source_tag(struct bcast_source *s,
                     uint32_t chunk,
                     struct es_error *err)
{
    if (s->has_tag[chunk])
        return check_again(s, chunk, err);
    if (read_chunk(s, chunk, err) < 0)
        return -1;
    if (seal_tag(s->seal, chunk, s->buffer, bcast_source_size(s, chunk),
                 s->tag[chunk].bytes)
        < 0)
        return es_no_memory(err); /* what else makes libcrypto fail */
    s->has_tag[chunk] = 1;
    s->untagged--;
    return 0;
}

void bcast_source_close(struct bcast_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->buffer);
    free(s->offset);
    free(s->tag);
    free(s->has_tag);
    seal_destroy(s->seal);
    chunk_recent_clear(&s->recent);
    *s = BCAST_SOURCE_CLOSED;
}
