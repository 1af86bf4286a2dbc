/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOLE (1u << 20) /* bytes of one that is tried, at most */

/* --- one entry ------------------------------------------------------------ */

/* What is made of its twin in the end is read there until then. */
static uint32_t file_of(const struct tree_copy *t, uint32_t entry)
{
    return t->left[entry] == 0 && t->twin[entry] ? t->twin[entry] : entry;
}

static int open_file(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    const struct tree_entry *e = &t->index.entry[entry];
    int is_due = t->left[entry] > 0, fd;
    char path[TREE_PATH_MAX];

    if (tree_index_path(&t->index, file_of(t, entry), path) < 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = openat(t->root, path,
                (is_due ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC,
                0600);
    if (fd >= 0 && is_due && t->left[entry] == e->data
        && tree_copy_begin_file(t, entry, fd) < 0) {
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
    why = tree_copy_begin_file(t, entry, fd) < 0 ? errno
                                                 : tree_copy_end_file(t, e, fd);
    close(fd);
    return why;
}

static int make_symlink(const struct tree_copy *t,
                        const struct tree_entry *e,
                        const char *path)
{
    struct timespec times[2];

    tree_copy_set_times(times, e->mtime_ns);
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

static int check_name(struct tree_copy *t)
{
    struct stat there;
    int why;

    if (fstatat(t->target.folder, t->target.name, &there, AT_SYMLINK_NOFOLLOW)
        < 0)
        return errno == ENOENT ? 0 : errno;
    if (t->single && S_ISDIR(there.st_mode))
        return EISDIR;
    if (t->update && !t->force && !t->single && !S_ISDIR(there.st_mode))
        return ENOTDIR;
    if (!t->force && !t->update)
        return EEXIST;
    why = tree_copy_check_mounts(t);
    if (why)
        return why;
    if (!t->update || t->single || !S_ISDIR(there.st_mode))
        return 0;
    t->old = openat(t->target.folder, t->target.name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return t->old < 0 ? errno : 0;
}

/* FAT is such a file system.  Only the trial tells, made before anything else has a
 * name in the folder. */
static int try_hole(struct tree_copy *t, uint64_t bytes)
{
    static const char name[] = "hole";
    struct stat st;
    int fd =
        openat(t->root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int why = 0;

    if (fd < 0)
        return errno;
    if (ftruncate(fd, (off_t)bytes) < 0 || fstat(fd, &st) < 0
        || unlinkat(t->root, name, 0) < 0)
        why = errno;
    else
        t->dense = (uint64_t)st.st_blocks * 512 >= bytes;
    close(fd);
    return why;
}

static int check_holes(struct tree_copy *t)
{
    uint64_t largest = 0;

    for (uint32_t i = 0; i < t->index.n; i++) {
        const struct tree_entry *e = &t->index.entry[i];

        if (e->data < e->size && e->size > largest)
            largest = e->size;
    }
    if (largest == 0)
        return 0;
    return try_hole(t, largest < HOLE ? largest : HOLE);
}

/* For what is to come of a file. */
static uint64_t needed(const struct tree_copy *t, uint32_t entry)
{
    const struct tree_entry *e = &t->index.entry[entry];
    uint64_t left = t->left[entry];

    if (t->twin[entry])
        left = e->data;
    return left > 0 && t->dense ? left + (e->size - e->data) : left;
}

static int check_room(struct tree_copy *t)
{
    room_begin(t->room, t->target.folder);
    for (uint32_t i = 0; i < t->index.n; i++)
        room_add(t->room, needed(t, i));
    return room_ask(t->room, t->target.folder, t->index.n);
}

/* All others have been made. */
static void promise_files(struct tree_copy *t)
{
    uint64_t files = 0;

    for (uint32_t i = 0; i < t->index.n; i++)
        files += needed(t, i) > 0;
    t->room->need.files = files;
}

static void sweep(const struct tree_copy *t)
{
    char folder[32];

    snprintf(folder, sizeof folder, "/proc/self/fd/%d", t->target.folder);
    own_folder_sweep(folder, TREE_COPY_PREFIX, t->host, NULL);
}

static int make_root(struct tree_copy *t)
{
    if (gethostname(t->host, sizeof t->host - 1) < 0)
        return errno;
    sweep(t);
    snprintf(t->part, sizeof t->part, TREE_COPY_PREFIX "%08x%08x-%s",
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
    t->room = setup->room ? setup->room : &t->alone;
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
        t->twin = calloc(t->index.n, sizeof *t->twin);
        t->bad = calloc(t->index.n, 1);
        why = t->left && t->twin && t->bad ? 0 : ENOMEM;
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
    if (why == 0)
        why = make_root(t);
    if (why == 0)
        why = check_holes(t);
    if (why == 0 && !t->update && !t->use_cache)
        why = check_room(t);
    for (uint32_t i = 1; why == 0 && i < t->index.n; i++) {
        why = atomic_load(&t->progress.cancel) ? ECANCELED : make_entry(t, i);
        (void)atomic_fetch_add(&t->progress.steps, 1);
    }
    if (why == 0 && (t->update || t->use_cache)) {
        why = tree_copy_take_same(t);
        if (why == 0)
            why = check_room(t);
    }
    if (why == 0)
        promise_files(t);
    return why;
}

const struct tree_want *tree_copy_lacks(const struct tree_copy *t)
{
    return &t->lacks;
}

/* What a node lacks must come. */
int tree_copy_select(struct tree_copy *t, const uint8_t *bits, size_t len)
{
    struct tree_want coming;
    int why = tree_want_init(&coming, t->index.segments);

    if (why == 0 && tree_want_unite(&coming, bits, len) < 0)
        why = EPROTO;
    for (uint32_t i = 0; why == 0 && i < t->index.segments; i++)
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

int tree_copy_was_here(const struct tree_copy *t, uint64_t at, size_t len)
{
    size_t x;

    if (!t->lacks.bits || at > t->index.bytes || len > t->index.bytes - at)
        return 0;
    x = len > 0 ? tree_index_extent(&t->index, at) : 0;
    while (len > 0) {
        struct tree_piece p = tree_index_piece(&t->index, x++, at, len);

        if (tree_want_has(&t->lacks, p.segment))
            return 0;
        at += p.len;
        len -= p.len;
    }
    return 1;
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

    if (!tree_want_has(&t->lacks, p->segment))
        return 0; /* it was here; another node wants it */
    fd = tree_files_get(&t->files, p->entry);
    why = fd < 0 ? errno : file_write_at(fd, bytes, p->len, p->offset);
    if (why)
        return why;
    if (p->len > left)
        return EBADMSG;
    t->left[p->entry] -= p->len;
    return t->left[p->entry] == 0
               ? tree_copy_end_file(t, &t->index.entry[p->entry], fd)
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

/* --- what is told --------------------------------------------------------- */

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
                 "what was damaged in the cache was removed");
    else
        return target_note(&t->target);
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
    free(t->twin);
    free(t->bad);
    free(t);
}
