/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_merge.h"
#include "pmix_bcast/folder_path.h"
#include "pmix_bcast/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define NOTHING UINT32_MAX

struct names {       /* of the new tree's entries, with open addressing */
    uint32_t *entry; /* 0: free; the root has no name */
    size_t mask;
};

struct level {      /* a folder in both trees */
    uint32_t entry; /* in the new tree's index; NOTHING: not in it */
    struct stat st; /* then: as it was */
};

struct merge {
    struct tree_merge *m;
    struct names names;
    struct folder_path from, to; /* the same folders in each */
    struct level *level;         /* of each of them, owned */
    size_t size;
};

/* --- names ---------------------------------------------------------------- */

static size_t place_of(const struct names *n, uint32_t parent, const char *name)
{
    return (size_t)XXH3_64bits_withSeed(name, strlen(name), parent) & n->mask;
}

static int note_names(struct names *n, const struct tree_index *t)
{
    size_t size = 64;

    while (size < (size_t)t->n * 2)
        size *= 2;
    *n = (struct names){calloc(size, sizeof *n->entry), size - 1};
    for (uint32_t i = 1; n->entry && i < t->n; i++) {
        size_t at = place_of(n, t->entry[i].parent, t->entry[i].name);

        while (n->entry[at])
            at = (at + 1) & n->mask;
        n->entry[at] = i;
    }
    return n->entry ? 0 : ENOMEM;
}

static uint32_t find(const struct merge *x, const char *name)
{
    const struct tree_index *t = x->m->index;
    uint32_t parent = x->level[x->from.n - 1].entry;

    if (parent == NOTHING)
        return NOTHING;
    for (size_t at = place_of(&x->names, parent, name); x->names.entry[at];
         at = (at + 1) & x->names.mask) {
        uint32_t i = x->names.entry[at];

        if (t->entry[i].parent == parent && strcmp(t->entry[i].name, name) == 0)
            return i;
    }
    return NOTHING;
}

/* --- what failed ----------------------------------------------------------- */

static int put_before(char path[TREE_PATH_MAX], const char *name)
{
    size_t len = strlen(path), more = strlen(name);

    if (len + more + 2 > TREE_PATH_MAX)
        return -1;
    memmove(path + more + (len > 0), path, len + 1);
    memcpy(path, name, more);
    if (len > 0)
        path[more] = '/';
    return 0;
}

/* From the innermost folder outwards. */
static void say_where(const struct merge *x, const char *file)
{
    char *path = x->m->path;
    int why;

    path[0] = '\0';
    why = put_before(path, file);
    for (size_t i = x->from.n; why == 0 && i-- > 0;)
        if (x->from.level[i].now)
            why = put_before(path, x->from.level[i].now);
}

/* --- a folder -------------------------------------------------------------- */

static int note_level(struct merge *x, const struct level *l)
{
    if (x->from.n == x->size) {
        size_t size = x->size ? x->size * 2 : 16;
        struct level *level = realloc(x->level, size * sizeof *level);

        if (!level)
            return ENOMEM;
        x->level = level;
        x->size = size;
    }
    x->level[x->from.n] = *l;
    return 0;
}

/* Both are taken over; -1: it could not be opened. */
static int enter(struct merge *x, int from, int to, const struct level *l)
{
    int why = from < 0 || to < 0 ? errno : note_level(x, l);

    if (why == 0) {
        why = folder_path_enter(&x->from, from);
        from = -1;
    }
    if (why == 0) {
        why = folder_path_enter(&x->to, to);
        to = -1;
    }
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return why;
}

static int take_file(const struct merge *x, const char *name)
{
    if (find(x, name) != NOTHING)
        return 0;
    return linkat(folder_path_fd(&x->from), name, folder_path_fd(&x->to), name,
                  0)
                   < 0
               ? errno
               : 0;
}

/* Folders wait: to be entered when all else is done. */
static int take_one(struct merge *x, const char *name)
{
    struct stat st;

    (void)atomic_fetch_add(&x->m->progress->steps, 1);
    if (atomic_load(&x->m->progress->cancel))
        return ECANCELED;
    if (fstatat(folder_path_fd(&x->from), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : errno;
    return S_ISDIR(st.st_mode) ? folder_path_add(&x->from, name)
                               : take_file(x, name);
}

static int list_folder(struct merge *x)
{
    int dir = fcntl(folder_path_fd(&x->from), F_DUPFD_CLOEXEC, 0);
    DIR *list = dir < 0 ? NULL : fdopendir(dir);
    struct dirent *d;
    int why = list ? 0 : errno;

    if (why && dir >= 0)
        close(dir);
    while (why == 0 && (d = readdir(list)) != NULL) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        why = take_one(x, d->d_name);
        if (why)
            say_where(x, d->d_name);
    }
    if (list)
        closedir(list);
    return why;
}

/* One that only the old tree has is made. */
static int open_both(struct merge *x, const char *name, const struct level *l)
{
    int from = folder_path_fd(&x->from), to = folder_path_fd(&x->to);

    if (l->entry == NOTHING && mkdirat(to, name, 0700) < 0)
        return errno;
    from = own_folder_enter(from, name);
    if (from < 0)
        return errno == EXDEV ? EBUSY : errno;
    return enter(x, from, openat(to, name, FOLDER_OPEN), l);
}

static int merge_folder(struct merge *x, const char *name)
{
    struct level l = {.entry = find(x, name)};
    int why = 0;

    if (fstatat(folder_path_fd(&x->from), name, &l.st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : errno;
    if (l.entry != NOTHING && x->m->index->entry[l.entry].kind != TREE_FOLDER)
        why = EISDIR;
    if (why == 0)
        why = open_both(x, name, &l);
    if (why) {
        say_where(x, "");
        return why;
    }
    return list_folder(x);
}

/* When all is in it: as it was. */
static int dress_folder(int to, const char *name, const struct stat *st)
{
    struct timespec times[2] = {st->st_atim, st->st_mtim};

    if (st->st_uid != geteuid() || st->st_gid != getegid())
        (void)fchownat(to, name, st->st_uid, st->st_gid,
                       AT_SYMLINK_NOFOLLOW); /* as far as we may */
    return utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0
                   || fchmodat(to, name, st->st_mode & 07777, 0) < 0
               ? errno
               : 0;
}

static int leave_folder(struct merge *x)
{
    struct level l = x->level[x->from.n - 1];
    int why = folder_path_leave(&x->from), also = folder_path_leave(&x->to);

    if (why == 0)
        why = also;
    if (why == 0 && l.entry == NOTHING)
        why = dress_folder(folder_path_fd(&x->to), folder_path_now(&x->from),
                           &l.st);
    if (why)
        say_where(x, "");
    return why;
}

/* --- all of it ------------------------------------------------------------- */

static int merge_all(struct merge *x)
{
    struct level root = {.entry = 0};
    int why = enter(x, openat(x->m->from, ".", FOLDER_OPEN),
                    openat(x->m->to, ".", FOLDER_OPEN), &root);

    if (why == 0)
        why = list_folder(x);
    while (why == 0 && x->from.n > 0) {
        const char *name = folder_path_next(&x->from);

        why = name ? merge_folder(x, name) : leave_folder(x);
    }
    return why;
}

int tree_merge(struct tree_merge *m)
{
    struct merge x = {.m = m};
    int why = note_names(&x.names, m->index);

    m->path[0] = '\0';
    if (why == 0)
        why = merge_all(&x);
    folder_path_clear(&x.from);
    folder_path_clear(&x.to);
    free(x.names.entry);
    free(x.level);
    return why;
}
