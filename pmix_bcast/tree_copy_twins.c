/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of one digest: of those that are not on this node one comes at most, the
 * first in the index, which so is the same one for all nodes; if one of them is
 * here, none does.  The others are made of it when it is whole.
 */
#include "pmix_bcast/offload.h"
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- who has one ----------------------------------------------------------- */

static int has_content(const struct tree_entry *e)
{
    return e->kind == TREE_FILE && e->digest && e->data > 0;
}

static int compare_digests(const void *a, const void *b, void *arg)
{
    const struct tree_entry *entry = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int diff = memcmp(entry[x].digest, entry[y].digest, TREE_DIGEST);

    return diff ? diff : (x > y) - (x < y);
}

/* Of n files of one digest, in order of the index. */
static void pair(struct tree_copy *t, const uint32_t *file, size_t n)
{
    uint32_t origin = file[0];

    for (size_t i = 0; i < n && t->left[origin] > 0; i++)
        if (t->left[file[i]] == 0)
            origin = file[i];
    for (size_t i = 0; i < n; i++)
        if (file[i] != origin && t->left[file[i]] > 0) {
            t->twin[file[i]] = origin;
            t->left[file[i]] = 0;
        }
}

static void pair_all(struct tree_copy *t, uint32_t *file)
{
    const struct tree_entry *e = t->index.entry;
    size_t n = 0, first = 0, next;

    for (uint32_t i = 0; i < t->index.n; i++)
        if (has_content(&e[i]))
            file[n++] = i;
    qsort_r(file, n, sizeof *file, compare_digests, t->index.entry);
    for (; first < n; first = next) {
        for (next = first + 1; next < n; next++)
            if (memcmp(e[file[first]].digest, e[file[next]].digest, TREE_DIGEST)
                != 0)
                break;
        pair(t, file + first, next - first);
    }
}

int tree_copy_find_twins(struct tree_copy *t)
{
    uint32_t *file = malloc((t->index.n + 1u) * sizeof *file);

    if (!file)
        return ENOMEM;
    pair_all(t, file);
    free(file);
    return 0;
}

/* --- making them ----------------------------------------------------------- */

/* It has its mode already, which may be one that its owner cannot read: see
 * close_origins(). */
static int open_origin(const struct tree_copy *t, uint32_t entry)
{
    int how = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
    char path[TREE_PATH_MAX];
    int fd;

    if (tree_index_path(&t->index, entry, path) < 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = openat(t->root, path, how);
    if (fd >= 0 || errno != EACCES || fchmodat(t->root, path, 0400, 0) < 0)
        return fd;
    return openat(t->root, path, how);
}

/* EIO: what came is right, and does not read back so. */
static int make_from(struct tree_copy *t, uint32_t entry, int from)
{
    struct tree_place p;
    char path[TREE_PATH_MAX];
    int fd = -1, why = tree_copy_place(t, entry, &p, path);

    if (why == 0)
        why = tree_same_make(&fd, &p, from);
    if (why || fd < 0)
        return why ? why : EIO;
    why = tree_copy_end_file(t, &t->index.entry[entry], fd);
    close(fd);
    return why;
}

static int make_twin(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    int from, why;

    if (t->twin[entry] == 0)
        return 0;
    if (atomic_load(&t->progress.cancel))
        return ECANCELED;
    from = open_origin(t, t->twin[entry]);
    if (from < 0)
        return errno;
    why = make_from(t, entry, from);
    close(from);
    (void)atomic_fetch_add(&t->progress.steps, 1);
    return why;
}

/* Not before all twins are made, as others may be about to open one. */
static int close_origins(const struct tree_copy *t)
{
    char path[TREE_PATH_MAX];

    for (uint32_t i = 0; i < t->index.n; i++) {
        unsigned mode = t->index.entry[t->twin[i]].mode;

        if (t->twin[i] == 0 || mode & 0400)
            continue;
        if (tree_index_path(&t->index, t->twin[i], path) < 0)
            return ENAMETOOLONG;
        if (fchmodat(t->root, path, mode, 0) < 0)
            return errno;
    }
    return 0;
}

int tree_copy_make_twins(struct tree_copy *t)
{
    int why = offload_each(t->index.n, make_twin, t);

    return why ? why : close_origins(t);
}
