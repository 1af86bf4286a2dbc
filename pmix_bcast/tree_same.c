/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_same.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int has_data(int fd, uint64_t from, uint64_t to)
{
    off_t at = from < to ? lseek(fd, (off_t)from, SEEK_DATA) : -1;

    return at >= 0 && (uint64_t)at < to;
}

/* Of the same size, with nothing where the index says that there is a hole. */
static int may_be_same(const struct tree_place *p, int fd)
{
    const struct tree_entry *e = &p->index->entry[p->entry];
    const struct tree_extent *x;
    struct stat st;
    uint64_t end = 0;
    size_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
        || (uint64_t)st.st_size != e->size)
        return 0;
    if (e->data == e->size)
        return 1;
    x = tree_index_extents(p->index, p->entry, &n);
    for (size_t i = 0; i < n; i++) {
        if (has_data(fd, end, x[i].offset))
            return 0;
        end = x[i].offset + x[i].len;
    }
    return !has_data(fd, end, e->size);
}

static int take(int fd, const struct tree_place *p, int from)
{
    const struct tree_entry *e = &p->index->entry[p->entry];
    int is_clone = ioctl(fd, FICLONE, from) == 0;
    uint8_t digest[TREE_DIGEST];
    int why;

    if (!is_clone && e->data < e->size && ftruncate(fd, (off_t)e->size) < 0)
        return errno;
    why = tree_digest_of(digest, p->index, p->entry, is_clone ? fd : from,
                         is_clone ? -1 : fd, p->progress);
    if (why == 0 && memcmp(digest, e->digest, TREE_DIGEST) != 0)
        why = ENODATA;
    return why;
}

int tree_same_make(int *fd, const struct tree_place *p, int from)
{
    int why;

    *fd = -1;
    if (!may_be_same(p, from))
        return 0;
    *fd = openat(p->root, p->path,
                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0)
        return errno;
    why = take(*fd, p, from);
    if (why == 0)
        return 0;
    (void)unlinkat(p->root, p->path, 0);
    close(*fd);
    *fd = -1;
    return why == ENODATA || why == EIO ? 0 : why; /* EIO: of a bad disk */
}
