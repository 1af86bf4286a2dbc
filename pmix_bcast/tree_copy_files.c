/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int tree_copy_place(struct tree_copy *t,
                    uint32_t entry,
                    struct tree_place *p,
                    char path[TREE_PATH_MAX])
{
    *p = (struct tree_place){&t->index, entry, t->root, path, &t->progress};
    return tree_index_path(&t->index, entry, path) < 0 ? ENAMETOOLONG : 0;
}

int tree_copy_open_old(const struct tree_copy *t, uint32_t entry)
{
    int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    char path[TREE_PATH_MAX];

    if (!t->update)
        return -1;
    if (t->single)
        return openat(t->target.folder, t->target.name, how);
    return t->old >= 0 && tree_index_path(&t->index, entry, path) == 0
               ? openat(t->old, path, how)
               : -1;
}

int tree_copy_begin_file(const struct tree_copy *t, uint32_t entry, int fd)
{
    const struct tree_entry *e = &t->index.entry[entry];

    return e->data == e->size ? 0 : ftruncate(fd, (off_t)e->size);
}
