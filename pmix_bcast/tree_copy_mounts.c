/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/mounts.h"
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int tree_copy_check_mounts(struct tree_copy *t)
{
    char within[300];
    int old, is;

    if (mounts_is_point(t->target.folder, t->target.name))
        return EBUSY;
    old = openat(t->target.folder, t->target.name,
                 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (old < 0) /* it is no folder, or who replaces it will tell */
        return 0;
    is = mounts_within(old, within, sizeof within);
    close(old);
    if (!is)
        return 0;
    snprintf(t->why, sizeof t->why, TREE_COPY_MOUNTED, within);
    return EBUSY;
}
