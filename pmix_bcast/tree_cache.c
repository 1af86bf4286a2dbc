/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_cache.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/file_digest.h"
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/segmenter.h"
#include "pmix_bcast/tree_cache_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX  (1u << 24)
#define BLOCK      4096u /* bytes; most file systems give a file whole ones */
#define LOCK_TRIES 50    /* half a second: it may have been stopped */

/* --- the folder ----------------------------------------------------------- */

static const char *reason(int why)
{
    if (why == EPERM)
        return "it is not this user's alone";
    if (why == ELOOP || why == ENOTDIR)
        return "it is no folder";
    if (why == ENOENT)
        return "make the folder that it is to be in";
    return strerror(why);
}

static int is_in_memory(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0
           && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

void tree_cache_open(struct tree_cache *c,
                     const char *path,
                     uint64_t bytes,
                     char *note,
                     size_t size)
{
    *c = TREE_CACHE_CLOSED;
    note[0] = '\0';
    c->bytes = bytes;
    c->folder = own_folder_open(AT_FDCWD, path);
    if (c->folder < 0)
        snprintf(note, size, "the cache %.200s is not used: %s", path,
                 reason(errno));
    else if (is_in_memory(c->folder))
        snprintf(note, size,
                 "the cache %.200s is in memory (tmpfs), where it takes what "
                 "jobs may need",
                 path);
}

void tree_cache_close(struct tree_cache *c)
{
    if (c->folder >= 0)
        close(c->folder);
    free(c->files.file);
    *c = TREE_CACHE_CLOSED;
}

/* --- one file ------------------------------------------------------------- */

static void tell_damaged(struct tree_cache *c,
                         int *fd,
                         const struct tree_place *p,
                         const char *name)
{
    *fd = TREE_CACHE_DAMAGED;
    atomic_store(&c->damaged, 1);
    if (!p->index->entry[p->entry].cuts)
        (void)unlinkat(c->folder, name, 0);
}

static void tell_used(const struct tree_cache *c,
                      const struct tree_place *p,
                      int fd)
{
    (void)futimens(fd, NULL);
    if (p->index->entry[p->entry].cuts)
        tree_cache_put_segments(c->folder, p->index, p->entry);
}

int tree_cache_get(struct tree_cache *c, int *fd, const struct tree_place *p)
{
    char name[TREE_CACHE_NAME];
    int cached, why;

    *fd = -1;
    if (c->folder < 0)
        return 0;
    tree_cache_name(name, p->index->entry[p->entry].digest);
    cached =
        openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (cached < 0)
        return 0;
    why = tree_same_make(fd, p, cached);
    if (why == 0 && *fd < 0)
        tell_damaged(c, fd, p, name);
    else if (why == 0)
        tell_used(c, p, cached);
    close(cached);
    return why;
}

static void put_it(struct tree_cache *c,
                   const struct tree_place *p,
                   int from,
                   const char *name)
{
    char part[TREE_CACHE_NAME], folder[3] = {name[0], name[1], '\0'};
    struct tree_place place = *p;
    int fd, why;

    tree_cache_part(part, folder);
    place.root = c->folder;
    place.path = part;
    why = tree_same_make(&fd, &place, from);
    if (fd < 0) {
        atomic_store(&c->full, why);
        return;
    }
    close(fd);
    if (renameat(c->folder, part, c->folder, name) < 0)
        (void)unlinkat(c->folder, part, 0);
    else if (p->index->entry[p->entry].cuts)
        tree_cache_put_segments(c->folder, p->index, p->entry);
}

static uint64_t in_blocks(uint64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

uint64_t tree_cache_lacks(const struct tree_cache *c,
                          const struct tree_entry *e)
{
    uint64_t bytes =
        in_blocks(e->data)
        + in_blocks(e->cuts ? tree_cache_segments_need(e->segments) : 0);
    char name[TREE_CACHE_NAME];

    if (c->folder < 0 || e->kind != TREE_FILE || !e->digest || e->data == 0
        || bytes > c->bytes)
        return 0;
    tree_cache_name(name, e->digest);
    return faccessat(c->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? 0
                                                                      : bytes;
}

void tree_cache_put(struct tree_cache *c, const struct tree_place *p)
{
    const struct tree_entry *e = &p->index->entry[p->entry];
    uint64_t bytes = tree_cache_lacks(c, e);
    char name[TREE_CACHE_NAME];
    int from;

    if (bytes == 0 || atomic_load(&c->full)
        || atomic_fetch_add(&c->taken, bytes) + bytes > c->bytes)
        return;
    tree_cache_name(name, e->digest);
    name[2] = '\0';
    (void)mkdirat(c->folder, name, 0700);
    name[2] = '/';
    from = openat(p->root, p->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0)
        return;
    put_it(c, p, from, name);
    close(from);
}

/* --- parts of files -------------------------------------------------------- */

int tree_cache_segments(struct tree_cache *c,
                        struct segment_list *l,
                        uint32_t first,
                        struct tree_progress *p)
{
    return c->folder < 0
               ? 0
               : tree_cache_all_segments(c->folder, l, &c->files, first, p);
}

int tree_cache_open_file(const struct tree_cache *c, uint32_t i)
{
    char name[TREE_CACHE_NAME];
    int fd;

    tree_cache_name(name, c->files.file[i].digest);
    fd =
        openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        (void)futimens(fd, NULL); /* it is used */
    return fd;
}

void tree_cache_mark_bad(struct tree_cache *c, uint32_t i)
{
    atomic_store(&c->files.file[i].is_damaged, 1);
    atomic_store(&c->damaged, 1);
}

void tree_cache_drop_bad(const struct tree_cache *c)
{
    for (size_t i = 0; i < c->files.n; i++)
        if (atomic_load(&c->files.file[i].is_damaged))
            tree_cache_drop(c, c->files.file[i].digest);
}

void tree_cache_drop(const struct tree_cache *c,
                     const uint8_t digest[TREE_DIGEST])
{
    char name[TREE_CACHE_NAME];

    tree_cache_name(name, digest);
    if (c->folder >= 0)
        (void)unlinkat(c->folder, name, 0);
}

/* --- bounds --------------------------------------------------------------- */

struct cached {
    char name[TREE_CACHE_NAME];
    uint64_t bytes;
    struct timespec used;
};

struct list {
    const struct tree_cache *c;
    struct cached *file; /* owned */
    size_t n, room;
    uint64_t bytes;
};

static void note_file(struct list *l, const char *folder, const char *name)
{
    struct cached f, *file;
    struct stat st;

    if (snprintf(f.name, sizeof f.name, "%s/%s", folder, name)
            >= (int)sizeof f.name
        || fstatat(l->c->folder, f.name, &st, AT_SYMLINK_NOFOLLOW) < 0
        || !S_ISREG(st.st_mode))
        return;
    if (tree_cache_is_part(name)) {
        if (tree_cache_is_stale(&st))
            (void)unlinkat(l->c->folder, f.name, 0);
        return;
    }
    if (!tree_cache_is_file(folder, name))
        return; /* it is not ours */
    f.bytes = (uint64_t)st.st_blocks * 512;
    if (st.st_size > (off_t)SEGMENT_MAX)
        f.bytes += tree_cache_segments_used(l->c->folder, f.name);
    f.used = st.st_mtim;
    file = array_grow(l->file, &l->room, l->n + 1, sizeof *l->file, FILES_MAX);
    if (!file)
        return;
    l->file = file;
    file[l->n++] = f;
    l->bytes += f.bytes;
}

static void note_folder(struct list *l, const char *name)
{
    int fd = openat(l->c->folder, name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((d = readdir(dir)) != NULL)
        note_file(l, name, d->d_name);
    closedir(dir);
}

static int compare_used(const void *a, const void *b)
{
    const struct timespec *x = &((const struct cached *)a)->used;
    const struct timespec *y = &((const struct cached *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Another one that is at it may have looked before our files were in. */
static int lock_bounds(const struct tree_cache *c)
{
    static const struct timespec nap = {.tv_nsec = 10000000};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(c->folder, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK)
            return -1;
        (void)nanosleep(&nap, NULL);
    }
    return -1;
}

void tree_cache_trim(const struct tree_cache *c, uint64_t more)
{
    struct list l = {.c = c};
    char name[8];

    if (c->folder < 0 || lock_bounds(c) < 0)
        return;
    for (unsigned i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "%02x", i);
        note_folder(&l, name);
    }
    l.bytes += more;
    if (l.bytes > c->bytes)
        qsort(l.file, l.n, sizeof *l.file, compare_used);
    for (size_t i = 0; i < l.n && l.bytes > c->bytes; i++)
        if (unlinkat(c->folder, l.file[i].name, 0) == 0)
            l.bytes -= l.file[i].bytes;
    free(l.file);
    tree_cache_sweep_segments(c->folder);
    (void)flock(c->folder, LOCK_UN);
}
