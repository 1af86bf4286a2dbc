/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/file_extents.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int add(struct file_extents *x, uint64_t offset, uint64_t len)
{
    struct tree_extent *extent = array_grow(
        x->extent, &x->room, x->n + 1, sizeof *extent, TREE_INDEX_MAX / 16);

    if (!extent)
        return ENOMEM;
    x->extent = extent;
    extent[x->n++] = (struct tree_extent){.offset = offset, .len = len};
    return 0;
}

int file_extents_all(struct file_extents *x, uint64_t size)
{
    x->n = 0;
    return size > 0 ? add(x, 0, size) : 0;
}

int file_extents_find(struct file_extents *x, int fd, uint64_t size)
{
    off_t end = 0;

    x->n = 0;
    while ((uint64_t)end < size) {
        off_t begin = lseek(fd, end, SEEK_DATA);

        if (begin < 0 && errno == ENXIO)
            break; /* a hole up to the end */
        end = begin < 0 ? -1 : lseek(fd, begin, SEEK_HOLE);
        if (end < 0)
            return file_extents_all(x, size);
        if ((uint64_t)end > size)
            end = (off_t)size;
        if (begin >= end)
            break;
        if (add(x, (uint64_t)begin, (uint64_t)(end - begin)))
            return ENOMEM;
    }
    return 0;
}

/* Nothing but a regular file is opened: who writes to a pipe would notice it. */
int file_extents_has_hole(const char *path)
{
    struct stat st;
    off_t hole;
    int fd;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)
        || st.st_blocks * 512 >= st.st_size)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0;
    hole = lseek(fd, 0, SEEK_HOLE);
    close(fd);
    return hole >= 0 && hole < st.st_size;
}

void file_extents_clear(struct file_extents *x)
{
    free(x->extent);
    *x = (struct file_extents){.n = 0};
}
