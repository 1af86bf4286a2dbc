/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_cache_segments.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/file_digest.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/segmenter.h"
#include "pmix_bcast/tree_cache_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER    "segments"
#define FILES_MAX (1u << 20)
#define BYTES     (8u + 4 + 4 + TREE_DIGEST) /* of a segment */

static void path_of_name(char path[TREE_CACHE_NAME], const char *name)
{
    snprintf(path, TREE_CACHE_NAME, FOLDER "/%.2s%.62s", name, name + 3);
}

static void path_of(char path[TREE_CACHE_NAME],
                    const uint8_t digest[TREE_DIGEST])
{
    char name[TREE_CACHE_NAME];

    tree_cache_name(name, digest);
    path_of_name(path, name);
}

uint64_t tree_cache_segments_need(uint32_t segments)
{
    return (uint64_t)segments * BYTES;
}

uint64_t tree_cache_segments_used(int folder, const char *name)
{
    char path[TREE_CACHE_NAME];
    struct stat st;

    path_of_name(path, name);
    return fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? (uint64_t)st.st_blocks * 512
               : 0;
}

/* --- writing -------------------------------------------------------------- */

static int write_all(int folder, const char *path, const struct writer *w)
{
    int fd = openat(folder, path,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int why;

    if (fd < 0)
        return -1;
    why = w->bad ? ENOMEM : file_write_at(fd, w->buf, w->len, 0);
    close(fd);
    return why ? -1 : 0;
}

void tree_cache_put_segments(int folder,
                             const struct tree_index *t,
                             uint32_t entry)
{
    const struct tree_entry *e = &t->entry[entry];
    char part[TREE_CACHE_NAME], path[TREE_CACHE_NAME];
    struct writer w = {0};
    struct stat st;

    path_of(path, e->digest);
    if (fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0
        && (uint64_t)st.st_size == tree_cache_segments_need(e->segments))
        return;
    for (uint32_t i = 0; i < e->segments; i++) {
        struct tree_segment s = tree_index_segment(t, entry, i);

        write_u64(&w, s.offset);
        write_u32(&w, s.len);
        write_blob(&w, s.digest, TREE_DIGEST);
    }
    (void)mkdirat(folder, FOLDER, 0700);
    tree_cache_part(part, FOLDER);
    if (write_all(folder, part, &w) < 0
        || renameat(folder, part, folder, path) < 0)
        (void)unlinkat(folder, part, 0);
    writer_clear(&w);
}

/* --- all of them ---------------------------------------------------------- */

/* one() gets the descriptor of their folder and a name in it, until it returns no
 * 0, which is returned. */
static int each_name(int folder,
                     int (*one)(void *arg, int at, const char *name),
                     void *arg)
{
    int fd =
        openat(folder, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    int result = 0;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (result == 0 && (d = readdir(dir)) != NULL)
        if (d->d_name[0] != '.')
            result = one(arg, fd, d->d_name);
    closedir(dir);
    return result;
}

static int is_file_there(int folder, const struct file_digest *d)
{
    char name[TREE_CACHE_NAME];

    tree_cache_name(name, d->byte);
    return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What is called otherwise is not ours. */
static int sweep_one(void *folder, int at, const char *name)
{
    struct file_digest d;
    struct stat st;
    int is_old = 0;

    if (tree_cache_is_part(name))
        is_old = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0
                 && tree_cache_is_stale(&st);
    else if (file_digest_from_hex(&d, name) == 0)
        is_old = !is_file_there(*(const int *)folder, &d);
    if (is_old)
        (void)unlinkat(at, name, 0);
    return 0;
}

void tree_cache_sweep_segments(int folder)
{
    (void)each_name(folder, sweep_one, &folder);
}

/* --- reading -------------------------------------------------------------- */

struct adding {
    int folder;
    struct segment_list *l;
    struct tree_cached *files;
    uint32_t first;
    struct tree_progress *progress;
};

/* Of the last file; what cannot be read ends it. */
static void add_segments(const struct adding *a, struct reader *r)
{
    while (r->left > 0) {
        struct tree_segment s;
        const uint8_t *digest;
        size_t len;

        s.offset = read_u64(r);
        s.len = read_u32(r);
        digest = read_blob(r, &len);
        if (r->bad || len != TREE_DIGEST || s.len == 0 || s.len > SEGMENT_MAX
            || s.offset > (uint64_t)INT64_MAX - s.len)
            return;
        memcpy(s.digest, digest, TREE_DIGEST);
        segment_list_add(a->l, &s, a->first + (uint32_t)a->files->n - 1);
    }
}

static int add_digest(struct tree_cached *c, const struct file_digest *d)
{
    struct tree_cached_file *file =
        array_grow(c->file, &c->room, c->n + 1, sizeof *file, FILES_MAX);

    if (!file)
        return -1;
    c->file = file;
    memcpy(file[c->n].digest, d->byte, TREE_DIGEST);
    atomic_init(&file[c->n++].is_damaged, 0);
    return 0;
}

static void add_file(const struct adding *a,
                     int fd,
                     const struct file_digest *d)
{
    struct stat st;
    uint8_t *bytes;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
        || st.st_size > (off_t)TREE_INDEX_MAX)
        return;
    bytes = malloc((size_t)st.st_size + 1);
    if (bytes && file_read_at(fd, bytes, (size_t)st.st_size, 0) == 0
        && add_digest(a->files, d) == 0)
        add_segments(a, &(struct reader){bytes, (size_t)st.st_size, 0});
    free(bytes);
}

static int add_name(void *arg, int at, const char *name)
{
    const struct adding *a = arg;
    struct file_digest d;
    int fd;

    (void)atomic_fetch_add(&a->progress->steps, 1);
    if (atomic_load(&a->progress->cancel))
        return ECANCELED;
    if (file_digest_from_hex(&d, name) < 0 || !is_file_there(a->folder, &d))
        return 0;
    fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    add_file(a, fd, &d);
    close(fd);
    return 0;
}

int tree_cache_all_segments(int folder,
                            struct segment_list *l,
                            struct tree_cached *files,
                            uint32_t first,
                            struct tree_progress *p)
{
    return each_name(folder, add_name,
                     &(struct adding){folder, l, files, first, p});
}
