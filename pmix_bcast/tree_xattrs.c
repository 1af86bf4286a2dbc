/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_xattrs.h"
#include "pmix_bcast/tree_index.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

static int is_wanted(const char *name)
{
    return strncmp(name, "user.", 5) == 0
           || strncmp(name, "system.posix_acl_", 17) == 0;
}

static int read_one(struct writer *w,
                    const char *path,
                    const char *name,
                    char *value)
{
    ssize_t len = getxattr(path, name, value, XATTR_SIZE_MAX);

    if (len < 0)
        return errno == ENODATA ? 0 : errno; /* it is gone */
    write_blob(w, name, strlen(name) + 1);
    write_blob(w, value, (size_t)len);
    if (w->bad)
        return ENOMEM;
    return w->len > TREE_XATTRS_MAX ? E2BIG : 0;
}

int tree_xattrs_read(struct writer *w, const char *path)
{
    char names[XATTR_LIST_MAX], *value;
    ssize_t len = listxattr(path, names, sizeof names);
    int why = 0;

    if (len < 0)
        return errno == ENOTSUP ? 0 : errno;
    value = len > 0 ? malloc(XATTR_SIZE_MAX) : NULL;
    if (len > 0 && !value)
        return ENOMEM;
    for (const char *name = names; why == 0 && name < names + len;
         name += strlen(name) + 1)
        if (is_wanted(name))
            why = read_one(w, path, name, value);
    free(value);
    return why;
}
