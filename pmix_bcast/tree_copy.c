/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_copy.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/target.h"
#include "pmix_bcast/tree_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PREFIX ".evenstep-tree-"

struct tree_copy {
    struct tree_index index;
    struct tree_files files;
    uint64_t *left; /* of each entry: bytes that are to come */
    struct target target;
    int root;       /* the folder; -1: none */
    char part[128]; /* its hidden name; "" if it has its own */
    char host[65];
    int force, keep;
};

/* --- one entry ------------------------------------------------------------ */

static void set_times(struct timespec times[2], int64_t ns)
{
    file_times(times, ns);
    if (ns == TREE_NO_TIME)
        times[1].tv_nsec = UTIME_OMIT;
}

static int end_file(const struct tree_entry *e, int fd)
{
    struct timespec times[2];

    set_times(times, e->mtime_ns);
    return fchmod(fd, e->mode) < 0 || futimens(fd, times) < 0 ? errno : 0;
}

/* Holes, and a hole at the end, are there before the data. */
static int begin_file(const struct tree_copy *t, uint32_t entry, int fd)
{
    const struct tree_entry *e = &t->index.entry[entry];

    return e->data == e->size ? 0 : ftruncate(fd, (off_t)e->size);
}

static int open_file(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    const struct tree_entry *e = &t->index.entry[entry];
    int is_due = t->left[entry] > 0, fd;
    char path[TREE_PATH_MAX];

    if (tree_index_path(&t->index, entry, path) < 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = openat(t->root, path,
                (is_due ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC,
                0600);
    if (fd >= 0 && is_due && t->left[entry] == e->data
        && begin_file(t, entry, fd) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int make_empty(struct tree_copy *t, uint32_t entry, const char *path)
{
    const struct tree_entry *e = &t->index.entry[entry];
    int fd = openat(t->root, path,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int why;

    if (fd < 0)
        return errno;
    why = begin_file(t, entry, fd) < 0 ? errno : end_file(e, fd);
    close(fd);
    return why;
}

static int make_symlink(const struct tree_copy *t,
                        const struct tree_entry *e,
                        const char *path)
{
    struct timespec times[2];

    set_times(times, e->mtime_ns);
    return symlinkat(e->target, t->root, path) < 0
                   || utimensat(t->root, path, times, AT_SYMLINK_NOFOLLOW) < 0
               ? errno
               : 0;
}

static int make_entry(struct tree_copy *t, uint32_t entry)
{
    const struct tree_entry *e = &t->index.entry[entry];
    char path[TREE_PATH_MAX];

    if (tree_index_path(&t->index, entry, path) < 0)
        return ENAMETOOLONG;
    t->left[entry] = e->data;
    if (e->kind == TREE_FOLDER)
        return mkdirat(t->root, path, 0700) < 0 ? errno : 0;
    if (e->kind == TREE_SYMLINK)
        return make_symlink(t, e, path);
    if (e->kind == TREE_FILE && e->data == 0)
        return make_empty(t, entry, path);
    return 0;
}

/* --- begin ---------------------------------------------------------------- */

static int check_name(const struct tree_copy *t)
{
    struct stat there, folder;

    if (fstatat(t->target.folder, t->target.name, &there, AT_SYMLINK_NOFOLLOW)
        < 0)
        return errno == ENOENT ? 0 : errno;
    if (!t->force)
        return EEXIST;
    return fstat(t->target.folder, &folder) == 0
                   && folder.st_dev != there.st_dev
               ? EBUSY /* it is a mount point, which cannot change places */
               : 0;
}

static int check_room(const struct tree_copy *t)
{
    struct statvfs fs;
    uint64_t block, blocks = 0;

    if (fstatvfs(t->target.folder, &fs) < 0)
        return errno;
    block = fs.f_frsize > 0 ? fs.f_frsize : 1;
    for (uint32_t i = 0; i < t->index.n; i++) {
        uint64_t data = t->index.entry[i].data;

        blocks += data / block + (data % block > 0);
    }
    if ((fs.f_blocks > 0 && blocks > fs.f_bavail)
        || (fs.f_files > 0 && t->index.n > fs.f_favail))
        return ENOSPC;
    return 0;
}

static void sweep(const struct tree_copy *t)
{
    char folder[32];

    snprintf(folder, sizeof folder, "/proc/self/fd/%d", t->target.folder);
    own_folder_sweep(folder, PREFIX, t->host, NULL);
}

static int make_root(struct tree_copy *t)
{
    if (gethostname(t->host, sizeof t->host - 1) < 0)
        return errno;
    sweep(t);
    snprintf(t->part, sizeof t->part, PREFIX "%08x%08x-%s",
             randombytes_random(), randombytes_random(), t->host);
    if (mkdirat(t->target.folder, t->part, 0700) < 0) {
        t->part[0] = '\0';
        return errno;
    }
    t->root = own_folder_open(t->target.folder, t->part);
    if (t->root < 0)
        return errno;
    (void)flock(t->root, LOCK_EX | LOCK_NB); /* until this process ends */
    return 0;
}

static int start(struct tree_copy *t, const char *destination)
{
    int why = target_open(&t->target, destination);

    if (why == 0)
        why = check_name(t);
    if (why == 0)
        why = check_room(t);
    if (why == 0)
        why = make_root(t);
    for (uint32_t i = 1; why == 0 && i < t->index.n; i++)
        why = make_entry(t, i);
    return why;
}

int tree_copy_open(struct tree_copy **out,
                   const struct tree_copy_setup *setup,
                   uint8_t *index,
                   size_t len)
{
    struct tree_copy *t = calloc(1, sizeof *t);
    int why;

    *out = NULL;
    if (!t) {
        free(index);
        return ENOMEM;
    }
    t->root = -1;
    t->target = TARGET_CLOSED;
    t->force = setup->force;
    t->keep = setup->keep;
    t->files =
        (struct tree_files){.index = &t->index, .open = open_file, .arg = t};
    why = tree_index_read(&t->index, index, len);
    if (why == 0) {
        t->left = calloc(t->index.n, sizeof *t->left);
        why = t->left ? start(t, setup->destination) : ENOMEM;
    }
    if (why)
        tree_copy_destroy(t);
    else
        *out = t;
    return why;
}

/* --- content -------------------------------------------------------------- */

uint64_t tree_copy_bytes(const struct tree_copy *t)
{
    return t->index.bytes;
}

static int write_piece(struct tree_copy *t,
                       const struct tree_piece *p,
                       const uint8_t *bytes)
{
    int fd = tree_files_get(&t->files, p->entry);
    int why = fd < 0 ? errno : file_write_at(fd, bytes, p->len, p->offset);

    if (why)
        return why;
    if (p->len > t->left[p->entry])
        return EBADMSG;
    t->left[p->entry] -= p->len;
    return t->left[p->entry] == 0 ? end_file(&t->index.entry[p->entry], fd) : 0;
}

int tree_copy_write(struct tree_copy *t,
                    const uint8_t *bytes,
                    size_t len,
                    uint64_t at)
{
    size_t x;

    if (at > t->index.bytes || len > t->index.bytes - at)
        return EBADMSG;
    x = len > 0 ? tree_index_extent(&t->index, at) : 0;
    while (len > 0) {
        struct tree_piece p = tree_index_piece(&t->index, x++, at, len);
        int why = write_piece(t, &p, bytes);

        if (why)
            return why;
        bytes += p.len;
        at += p.len;
        len -= p.len;
    }
    return 0;
}

int tree_copy_read(struct tree_copy *t, uint8_t *bytes, size_t len, uint64_t at)
{
    uint32_t entry;

    if (at > t->index.bytes || len > t->index.bytes - at)
        return EBADMSG;
    return tree_files_read(&t->files, bytes, len, at, &entry);
}

/* --- finish --------------------------------------------------------------- */

static int make_hard_link(const struct tree_copy *t, uint32_t entry)
{
    char from[TREE_PATH_MAX], to[TREE_PATH_MAX];

    if (tree_index_path(&t->index, t->index.entry[entry].same, from) < 0
        || tree_index_path(&t->index, entry, to) < 0)
        return ENAMETOOLONG;
    return linkat(t->root, from, t->root, to, 0) < 0 ? errno : 0;
}

/* Nothing is made in it any more. */
static int end_folder(const struct tree_copy *t, uint32_t entry)
{
    const struct tree_entry *e = &t->index.entry[entry];
    struct timespec times[2];
    char path[TREE_PATH_MAX];

    if (tree_index_path(&t->index, entry, path) < 0)
        return ENAMETOOLONG;
    set_times(times, e->mtime_ns);
    return utimensat(t->root, path, times, 0) < 0
                   || fchmodat(t->root, path, e->mode, 0) < 0
               ? errno
               : 0;
}

static int end_entries(const struct tree_copy *t)
{
    int why = 0;

    for (uint32_t i = 0; why == 0 && i < t->index.n; i++)
        if (t->index.entry[i].kind == TREE_HARD_LINK)
            why = make_hard_link(t, i);
    for (uint32_t i = t->index.n; why == 0 && i-- > 0;)
        if (t->index.entry[i].kind == TREE_FOLDER)
            why = end_folder(t, i);
    return why;
}

/* Where two names cannot change places in one step. */
static int replace_in_two(const struct tree_copy *t)
{
    char aside[sizeof t->part];

    snprintf(aside, sizeof aside, PREFIX "%08x%08x-%s", randombytes_random(),
             randombytes_random(), t->host);
    if (renameat(t->target.folder, t->target.name, t->target.folder, aside) < 0)
        return errno;
    if (renameat(t->target.folder, t->part, t->target.folder, t->target.name)
        < 0) {
        int why = errno;

        (void)renameat(t->target.folder, aside, t->target.folder,
                       t->target.name);
        return why;
    }
    own_folder_remove(t->target.folder, aside);
    return 0;
}

static int is_not_known(int why)
{
    return why == EINVAL || why == ENOSYS;
}

static int replace(const struct tree_copy *t)
{
    if (renameat2(t->target.folder, t->part, t->target.folder, t->target.name,
                  RENAME_EXCHANGE)
        < 0)
        return is_not_known(errno) ? replace_in_two(t) : errno;
    own_folder_remove(t->target.folder, t->part);
    return 0;
}

static int give_name(const struct tree_copy *t)
{
    struct stat st;

    if (renameat2(t->target.folder, t->part, t->target.folder, t->target.name,
                  RENAME_NOREPLACE)
        == 0)
        return 0;
    if (errno == EEXIST && t->force)
        return replace(t);
    if (!is_not_known(errno))
        return errno;
    if (fstatat(t->target.folder, t->target.name, &st, AT_SYMLINK_NOFOLLOW)
        == 0)
        return t->force ? replace_in_two(t) : EEXIST;
    return renameat(t->target.folder, t->part, t->target.folder, t->target.name)
                   < 0
               ? errno
               : 0;
}

int tree_copy_finish(struct tree_copy *t)
{
    int why = end_entries(t);

    if (why == 0 && t->keep && syncfs(t->root) < 0)
        why = errno;
    if (why == 0)
        why = give_name(t);
    if (why)
        return why;
    t->part[0] = '\0';
    return t->keep ? target_sync(&t->target, t->root) : 0;
}

void tree_copy_destroy(struct tree_copy *t)
{
    if (!t)
        return;
    tree_files_clear(&t->files);
    if (t->part[0])
        own_folder_remove(t->target.folder, t->part);
    if (t->root >= 0)
        close(t->root);
    target_close(&t->target);
    tree_index_clear(&t->index);
    free(t->left);
    free(t);
}
