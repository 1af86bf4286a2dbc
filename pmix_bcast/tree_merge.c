/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_merge.h"
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
#define DEPTH   256 /* of folders */
#define OPEN_IT (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct names {       /* of the new tree's entries, with open addressing */
    uint32_t *entry; /* 0: free; the root has no name */
    size_t mask;
};

struct folder { /* in both trees */
    struct tree_merge *m;
    const struct names *names;
    int from, to;
    uint32_t entry; /* in the new tree's index; NOTHING: not in it */
    int depth;
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

static uint32_t find(const struct folder *f, const char *name)
{
    const struct tree_index *t = f->m->index;

    if (f->entry == NOTHING)
        return NOTHING;
    for (size_t at = place_of(f->names, f->entry, name); f->names->entry[at];
         at = (at + 1) & f->names->mask) {
        uint32_t i = f->names->entry[at];

        if (t->entry[i].parent == f->entry
            && strcmp(t->entry[i].name, name) == 0)
            return i;
    }
    return NOTHING;
}

/* --- one thing ------------------------------------------------------------ */

static int merge_folder(struct folder *f);

static int enter(const struct folder *f, const char *name, uint32_t entry)
{
    struct folder inner = {.m = f->m,
                           .names = f->names,
                           .from = own_folder_enter(f->from, name),
                           .entry = entry,
                           .depth = f->depth + 1};
    int why = inner.from < 0 ? errno : 0;

    inner.to = why ? -1 : openat(f->to, name, OPEN_IT);
    if (!why && inner.to < 0)
        why = errno;
    if (why == 0 && inner.depth > DEPTH)
        why = ELOOP;
    if (why == 0)
        return merge_folder(&inner); /* which closes them */
    if (inner.from >= 0)
        close(inner.from);
    if (inner.to >= 0)
        close(inner.to);
    return why;
}

/* When all is in it: as it was. */
static int dress_folder(const struct folder *f,
                        const char *name,
                        const struct stat *st)
{
    struct timespec times[2] = {st->st_atim, st->st_mtim};

    if (st->st_uid != geteuid() || st->st_gid != getegid())
        (void)fchownat(f->to, name, st->st_uid, st->st_gid,
                       AT_SYMLINK_NOFOLLOW); /* as far as we may */
    return utimensat(f->to, name, times, AT_SYMLINK_NOFOLLOW) < 0
                   || fchmodat(f->to, name, st->st_mode & 07777, 0) < 0
               ? errno
               : 0;
}

static int keep_folder(const struct folder *f,
                       const char *name,
                       const struct stat *st)
{
    int why;

    if (mkdirat(f->to, name, 0700) < 0)
        return errno;
    why = enter(f, name, NOTHING);
    return why ? why : dress_folder(f, name, st);
}

static int merge_one(const struct folder *f, const char *name)
{
    const struct tree_index *t = f->m->index;
    uint32_t entry = find(f, name);
    struct stat st;

    (void)atomic_fetch_add(&f->m->progress->steps, 1);
    if (atomic_load(&f->m->progress->cancel))
        return ECANCELED;
    if (fstatat(f->from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : errno;
    if (!S_ISDIR(st.st_mode)) {
        if (entry != NOTHING)
            return 0;
        return linkat(f->from, name, f->to, name, 0) < 0 ? errno : 0;
    }
    if (entry == NOTHING)
        return keep_folder(f, name, &st);
    return t->entry[entry].kind == TREE_FOLDER ? enter(f, name, entry) : EISDIR;
}

/* From the innermost folder outwards. */
static void say_where(const struct folder *f, const char *name)
{
    char *path = f->m->path;
    size_t len = strlen(path), more = strlen(name);

    if (len + more + 2 > TREE_PATH_MAX)
        return;
    memmove(path + more + (len > 0), path, len + 1);
    memcpy(path, name, more);
    if (len > 0)
        path[more] = '/';
}

/* Closes both folders. */
static int merge_folder(struct folder *f)
{
    DIR *list = fdopendir(f->from);
    struct dirent *d;
    int why = list ? 0 : errno;

    while (why == 0 && (d = readdir(list)) != NULL) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        why = merge_one(f, d->d_name);
        if (why)
            say_where(f, d->d_name);
    }
    if (list)
        closedir(list);
    else
        close(f->from);
    close(f->to);
    return why;
}

int tree_merge(struct tree_merge *m)
{
    struct names names;
    struct folder root = {
        .m = m, .names = &names, .from = -1, .to = -1, .entry = 0};
    int why = note_names(&names, m->index);

    m->path[0] = '\0';
    if (why)
        return why;
    root.from = openat(m->from, ".", OPEN_IT);
    root.to = openat(m->to, ".", OPEN_IT);
    if (root.from >= 0 && root.to >= 0) {
        why = merge_folder(&root);
    } else {
        why = errno;
        if (root.from >= 0)
            close(root.from);
        if (root.to >= 0)
            close(root.to);
    }
    free(names.entry);
    return why;
}
