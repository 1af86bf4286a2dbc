/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what waits for the last file ------------------------------------------ */

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
    tree_copy_set_xattrs(t, e, fd);
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
    tree_copy_set_times(times, e->mtime_ns);
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

/* --- its name --------------------------------------------------------------- */

/* Where two names cannot change places in one step. */
static int replace_in_two(const struct tree_copy *t)
{
    char aside[sizeof t->part];

    snprintf(aside, sizeof aside, TREE_COPY_PREFIX "%08x%08x-%s",
             randombytes_random(), randombytes_random(), t->host);
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

static int replace(struct tree_copy *t)
{
    int why = tree_copy_check_mounts(t); /* it may have come meanwhile */

    if (why)
        return why;
    if (renameat2(t->target.folder, t->part, t->target.folder, t->target.name,
                  RENAME_EXCHANGE)
        < 0)
        return is_not_known(errno) ? replace_in_two(t) : errno;
    own_folder_remove(t->target.folder, t->part);
    return 0;
}

static int give_name(struct tree_copy *t)
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
        return t->force || t->update ? replace(t) : EEXIST;
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

int tree_copy_finish(struct tree_copy *t)
{
    int why = tree_copy_make_twins(t);

    if (why == 0)
        why = tree_copy_fill_cache(t);
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
