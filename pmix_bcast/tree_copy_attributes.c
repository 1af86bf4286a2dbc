/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>

void tree_copy_set_times(struct timespec times[2], int64_t ns)
{
    file_times(times, ns);
    if (ns == TREE_NO_TIME)
        times[1].tv_nsec = UTIME_OMIT;
}

void tree_copy_set_xattrs(struct tree_copy *t,
                          const struct tree_entry *e,
                          int fd)
{
    struct tree_xattr x;
    size_t at = 0;

    while (tree_index_xattr(e, &at, &x))
        if (fsetxattr(fd, x.name, x.value, x.len, 0) < 0)
            atomic_store(&t->unset, errno);
}

int tree_copy_end_file(struct tree_copy *t, const struct tree_entry *e, int fd)
{
    struct timespec times[2];

    tree_copy_set_times(times, t->now ? TREE_NO_TIME : e->mtime_ns);
    tree_copy_set_xattrs(t, e, fd);
    return fchmod(fd, e->mode) < 0 || futimens(fd, times) < 0 ? errno : 0;
}
