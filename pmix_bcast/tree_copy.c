/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_copy.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/offload.h"
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/target.h"
#include "pmix_bcast/tree_cache.h"
#include "pmix_bcast/tree_files.h"
#include "pmix_bcast/tree_merge.h"
#include "pmix_bcast/tree_same.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PREFIX ".evenstep-tree-"

struct tree_copy {
    struct tree_index index;
    struct tree_files files;
    uint64_t *left; /* of each entry: bytes that are to come */
    char *destination;
    struct tree_want lacks; /* what was not here; no bits: all */
    struct target target;
    struct tree_cache cache;
    struct tree_progress progress;
    atomic_int unset; /* errno: an attribute could not be set */
    int root;         /* the folder; -1: none */
    char part[128];   /* its hidden name; "" if it has its own */
    char host[65];
    int force, keep, update, delete, single, now, use_cache;
    int old; /* with update: the folder that is there; -1: none */
    char *cache_path;
    uint64_t cache_bytes;
    char cache_note[300], note[200];
    char why[TREE_PATH_MAX + 64]; /* more than an errno value says */
};

/* --- one entry ------------------------------------------------------------ */

static void set_times(struct timespec times[2], int64_t ns)
{
    file_times(times, ns);
    if (ns == TREE_NO_TIME)
        times[1].tv_nsec = UTIME_OMIT;
}

static void set_xattrs(struct tree_copy *t, const struct tree_entry *e, int fd)
{
    struct tree_xattr x;
    size_t at = 0;

    while (tree_index_xattr(e, &at, &x))
        if (fsetxattr(fd, x.name, x.value, x.len, 0) < 0)
            atomic_store(&t->unset, errno);
}

static int end_file(struct tree_copy *t, const struct tree_entry *e, int fd)
{
    struct timespec times[2];

    set_times(times, t->now ? TREE_NO_TIME : e->mtime_ns);
    set_xattrs(t, e, fd);
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
    why = begin_file(t, entry, fd) < 0 ? errno : end_file(t, e, fd);
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

static int is_mount_point(const struct tree_copy *t, const struct stat *there)
{
    struct stat folder;

    return fstat(t->target.folder, &folder) == 0
           && folder.st_dev != there->st_dev;
}

static int check_name(struct tree_copy *t)
{
    struct stat there;

    if (fstatat(t->target.folder, t->target.name, &there, AT_SYMLINK_NOFOLLOW)
        < 0)
        return errno == ENOENT ? 0 : errno;
    if (t->single && S_ISDIR(there.st_mode))
        return EISDIR;
    if (t->update && !t->force && !t->single && !S_ISDIR(there.st_mode))
        return ENOTDIR;
    if (!t->force && !t->update)
        return EEXIST;
    if (is_mount_point(t, &there))
        return EBUSY; /* it cannot change places */
    if (!t->update || t->single || !S_ISDIR(there.st_mode))
        return 0;
    t->old = openat(t->target.folder, t->target.name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return t->old < 0 ? errno : 0;
}

static int check_room(const struct tree_copy *t)
{
    struct statvfs fs;
    uint64_t block, blocks = 0;

    if (fstatvfs(t->target.folder, &fs) < 0)
        return errno;
    block = fs.f_frsize > 0 ? fs.f_frsize : 1;
    for (uint32_t i = 0; i < t->index.n; i++) {
        uint64_t data = t->left[i];

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

/* --- what is here already ------------------------------------------------- */

static int open_old(const struct tree_copy *t, const char *path)
{
    int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

    if (!t->update)
        return -1;
    if (t->single)
        return openat(t->target.folder, t->target.name, how);
    return t->old >= 0 ? openat(t->old, path, how) : -1;
}

static int find_same(struct tree_copy *t, int *fd, const struct tree_place *p)
{
    int old = open_old(t, p->path), why = 0;

    *fd = -1;
    if (old >= 0) {
        why = tree_same_make(fd, p, old);
        close(old);
    }
    return why == 0 && *fd < 0 ? tree_cache_get(&t->cache, fd, p) : why;
}

static int place_of(struct tree_copy *t,
                    uint32_t entry,
                    struct tree_place *p,
                    char path[TREE_PATH_MAX])
{
    *p = (struct tree_place){&t->index, entry, t->root, path, &t->progress};
    return tree_index_path(&t->index, entry, path) < 0 ? ENAMETOOLONG : 0;
}

static int keep_same(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    const struct tree_entry *e = &t->index.entry[entry];
    struct tree_place p;
    char path[TREE_PATH_MAX];
    int fd, why;

    if (e->kind != TREE_FILE || t->left[entry] == 0 || !e->digest)
        return 0;
    why = place_of(t, entry, &p, path);
    if (why == 0)
        why = find_same(t, &fd, &p);
    if (why || fd < 0)
        return why;
    why = end_file(t, e, fd);
    close(fd);
    t->left[entry] = 0;
    (void)atomic_fetch_add(&t->progress.steps, 1);
    return why;
}

static int look_for_same(struct tree_copy *t)
{
    int why = tree_want_init(&t->lacks, t->index.n);

    if (t->use_cache)
        tree_cache_open(&t->cache, t->cache_path, t->cache_bytes, t->cache_note,
                        sizeof t->cache_note);
    if (why == 0)
        why = offload_each(t->index.n, keep_same, t);
    for (uint32_t i = 0; why == 0 && i < t->index.n; i++)
        if (t->left[i] > 0)
            tree_want_add(&t->lacks, i);
    return why;
}

/* What only the old tree has. */
static int keep_others(struct tree_copy *t)
{
    struct tree_merge *m;
    int why;

    if (t->old < 0 || t->delete)
        return 0;
    m = malloc(sizeof *m);
    if (!m)
        return ENOMEM;
    *m = (struct tree_merge){.index = &t->index,
                             .from = t->old,
                             .to = t->root,
                             .progress = &t->progress};
    why = tree_merge(m);
    if (why == EISDIR)
        snprintf(t->why, sizeof t->why,
                 "%s is a folder there, and none in SRC: give --delete",
                 m->path);
    else if (why == EXDEV)
        snprintf(t->why, sizeof t->why, "%s is a mount point there", m->path);
    else if (why && m->path[0])
        snprintf(t->why, sizeof t->why, "%s: %s", m->path, strerror(why));
    free(m);
    return why;
}

/* --- begin ---------------------------------------------------------------- */

static int init(struct tree_copy *t, const struct tree_copy_setup *setup)
{
    t->force = setup->force;
    t->keep = setup->keep;
    t->update = setup->update;
    t->delete = setup->delete;
    t->single = setup->single;
    t->now = setup->now;
    t->use_cache = setup->cache != NULL;
    t->cache_bytes = setup->cache_bytes;
    t->cache_path = strdup(setup->cache ? setup->cache : "");
    t->destination = strdup(setup->destination);
    t->files =
        (struct tree_files){.index = &t->index, .open = open_file, .arg = t};
    return t->cache_path && t->destination ? 0 : ENOMEM;
}

/* A single file is the second entry, in a folder that is not wanted. */
static int check_index(const struct tree_copy *t)
{
    return t->single && (t->index.n != 2 || t->index.entry[1].kind != TREE_FILE)
               ? EBADMSG
               : 0;
}

int tree_copy_create(struct tree_copy **out,
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
    t->root = t->old = -1;
    t->target = TARGET_CLOSED;
    t->cache = TREE_CACHE_CLOSED;
    why = tree_index_read(&t->index, index, len);
    if (why == 0)
        why = check_index(t);
    if (why == 0)
        why = init(t, setup);
    if (why == 0) {
        t->left = calloc(t->index.n, sizeof *t->left);
        why = t->left ? 0 : ENOMEM;
    }
    if (why)
        tree_copy_destroy(t);
    else
        *out = t;
    return why;
}

int tree_copy_prepare(struct tree_copy *t)
{
    int why = target_open(&t->target, t->destination);

    for (uint32_t i = 0; i < t->index.n; i++)
        t->left[i] = t->index.entry[i].data;
    if (why == 0)
        why = check_name(t);
    if (why == 0 && !t->update && !t->use_cache)
        why = check_room(t);
    if (why == 0)
        why = make_root(t);
    for (uint32_t i = 1; why == 0 && i < t->index.n; i++) {
        why = atomic_load(&t->progress.cancel) ? ECANCELED : make_entry(t, i);
        (void)atomic_fetch_add(&t->progress.steps, 1);
    }
    if (why || (!t->update && !t->use_cache))
        return why;
    why = look_for_same(t);
    if (why == 0)
        why = keep_others(t);
    return why ? why : check_room(t);
}

const struct tree_want *tree_copy_lacks(const struct tree_copy *t)
{
    return &t->lacks;
}

/* What a node lacks must come. */
int tree_copy_select(struct tree_copy *t, const uint8_t *bits, size_t len)
{
    struct tree_want coming;
    int why = tree_want_init(&coming, t->index.n);

    if (why == 0 && tree_want_unite(&coming, bits, len) < 0)
        why = EPROTO;
    for (uint32_t i = 0; why == 0 && i < t->index.n; i++)
        if (t->lacks.bits && tree_want_has(&t->lacks, i)
            && !tree_want_has(&coming, i))
            why = EPROTO;
    if (why == 0)
        why = tree_index_select(&t->index, &coming);
    tree_want_clear(&coming);
    return why;
}

const char *tree_copy_why(const struct tree_copy *t)
{
    return t->why;
}

unsigned tree_copy_steps(const struct tree_copy *t)
{
    return atomic_load(&((struct tree_copy *)t)->progress.steps);
}

void tree_copy_cancel(struct tree_copy *t)
{
    atomic_store(&t->progress.cancel, 1);
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
    uint64_t left = t->left[p->entry];
    int fd, why;

    if (!tree_want_has(&t->lacks, p->entry))
        return 0; /* it was here; another node wants it */
    fd = tree_files_get(&t->files, p->entry);
    why = fd < 0 ? errno : file_write_at(fd, bytes, p->len, p->offset);
    if (why)
        return why;
    if (p->len > left)
        return EBADMSG;
    t->left[p->entry] -= p->len;
    return t->left[p->entry] == 0 ? end_file(t, &t->index.entry[p->entry], fd)
                                  : 0;
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

static void set_folder_xattrs(struct tree_copy *t,
                              const struct tree_entry *e,
                              const char *path)
{
    int fd = e->xattrs_len > 0 ? openat(
                 t->root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                               : -1;

    if (fd < 0)
        return;
    set_xattrs(t, e, fd);
    close(fd);
}

/* Nothing is made in it any more. */
static int end_folder(struct tree_copy *t, uint32_t entry)
{
    const struct tree_entry *e = &t->index.entry[entry];
    struct timespec times[2];
    char path[TREE_PATH_MAX];

    if (tree_index_path(&t->index, entry, path) < 0)
        return ENAMETOOLONG;
    set_times(times, e->mtime_ns);
    set_folder_xattrs(t, e, path);
    return utimensat(t->root, path, times, 0) < 0
                   || fchmodat(t->root, path, e->mode, 0) < 0
               ? errno
               : 0;
}

static int end_entries(struct tree_copy *t)
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
    if (errno == EEXIST && (t->force || t->update))
        return replace(t);
    if (!is_not_known(errno))
        return errno;
    if (fstatat(t->target.folder, t->target.name, &st, AT_SYMLINK_NOFOLLOW)
        == 0)
        return t->force || t->update ? replace_in_two(t) : EEXIST;
    return renameat(t->target.folder, t->part, t->target.folder, t->target.name)
                   < 0
               ? errno
               : 0;
}

/* A file has its name at once, and its folder goes. */
static int give_single_name(const struct tree_copy *t)
{
    const char *name = t->index.entry[1].name;
    unsigned how = t->force || t->update ? 0 : RENAME_NOREPLACE;

    if (renameat2(t->root, name, t->target.folder, t->target.name, how) < 0
        && (!how || !is_not_known(errno)
            || linkat(t->root, name, t->target.folder, t->target.name, 0) < 0))
        return errno;
    own_folder_remove(t->target.folder, t->part);
    return 0;
}

static int put_into_cache(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    const struct tree_entry *e = &t->index.entry[entry];
    struct tree_place p;
    char path[TREE_PATH_MAX];

    if (e->kind == TREE_FILE && e->digest && e->data > 0
        && place_of(t, entry, &p, path) == 0)
        tree_cache_put(&t->cache, &p);
    return atomic_load(&t->progress.cancel) ? ECANCELED : 0;
}

static int fill_cache(struct tree_copy *t)
{
    int why;

    if (t->cache.folder < 0)
        return 0;
    why = offload_each(t->index.n, put_into_cache, t);
    if (why == 0)
        tree_cache_trim(&t->cache);
    return why;
}

int tree_copy_finish(struct tree_copy *t)
{
    int why = fill_cache(t);

    if (why == 0)
        why = end_entries(t);
    if (why == 0 && t->keep && syncfs(t->root) < 0)
        why = errno;
    if (why == 0)
        why = t->single ? give_single_name(t) : give_name(t);
    if (why)
        return why;
    t->part[0] = '\0';
    return t->keep ? target_sync(&t->target, t->root) : 0;
}

/* One thing: what cost most. */
const char *tree_copy_note(struct tree_copy *t)
{
    int unset = atomic_load(&t->unset), full = atomic_load(&t->cache.full);

    t->note[0] = '\0';
    if (unset)
        snprintf(t->note, sizeof t->note,
                 "extended attributes could not be set there: %s",
                 strerror(unset));
    else if (t->cache_note[0])
        return t->cache_note;
    else if (full)
        snprintf(t->note, sizeof t->note, "the cache could not take all: %s",
                 strerror(full));
    else if (atomic_load(&t->cache.damaged))
        snprintf(t->note, sizeof t->note,
                 "what was damaged in the cache came again");
    return t->note;
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
    if (t->old >= 0)
        close(t->old);
    tree_cache_close(&t->cache);
    target_close(&t->target);
    tree_index_clear(&t->index);
    tree_want_clear(&t->lacks);
    free(t->cache_path);
    free(t->destination);
    free(t->left);
    free(t);
}
