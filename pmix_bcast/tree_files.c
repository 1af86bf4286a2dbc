/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_files.h"
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <unistd.h>

static void close_slot(struct tree_open *s)
{
    if (s->entry)
        close(s->fd);
    s->entry = 0;
}

int tree_files_get(struct tree_files *f, uint32_t entry)
{
    struct tree_open *oldest = &f->slot[0];
    int fd;

    for (size_t i = 0; i < TREE_OPEN_MAX; i++) {
        struct tree_open *s = &f->slot[i];

        if (s->entry == entry) {
            s->used = ++f->clock;
            return s->fd;
        }
        if (!s->entry || (oldest->entry && s->used < oldest->used))
            oldest = s;
    }
    fd = f->open(f->arg, entry);
    if (fd < 0)
        return -1;
    close_slot(oldest);
    *oldest = (struct tree_open){entry, fd, ++f->clock};
    return fd;
}

static int read_piece(struct tree_files *f,
                      uint8_t *bytes,
                      const struct tree_piece *p)
{
    int fd = tree_files_get(f, p->entry);

    return fd < 0 ? errno : file_read_at(fd, bytes, p->len, p->offset);
}

int tree_files_read(struct tree_files *f,
                    uint8_t *bytes,
                    size_t len,
                    uint64_t at,
                    uint32_t *entry)
{
    size_t x = len > 0 ? tree_index_extent(f->index, at) : 0;

    while (len > 0) {
        struct tree_piece p = tree_index_piece(f->index, x++, at, len);
        int why = read_piece(f, bytes, &p);

        if (why) {
            *entry = p.entry;
            return why;
        }
        bytes += p.len;
        at += p.len;
        len -= p.len;
    }
    return 0;
}

void tree_files_clear(struct tree_files *f)
{
    for (size_t i = 0; i < TREE_OPEN_MAX; i++)
        close_slot(&f->slot[i]);
}
