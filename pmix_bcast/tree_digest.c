/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_digest.h"
#include "pmix_bcast/file_digest.h"
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (256u << 10) /* bytes that are read at a time */

_Static_assert(TREE_DIGEST == FILE_DIGEST_BYTES, "one kind of digest");

struct pass { /* over a file's data */
    struct file_digester *sum;
    uint8_t *block;
    size_t room; /* of the block */
    int fd, to;
    struct tree_progress *progress;
};

static void add_number(struct file_digester *sum, uint64_t v)
{
    uint8_t bytes[8];

    put_u32(bytes, (uint32_t)(v >> 32));
    put_u32(bytes + 4, (uint32_t)v);
    file_digester_add(sum, bytes, sizeof bytes);
}

static int pass_over(struct pass *p, const struct tree_extent *x)
{
    uint64_t at = x->offset, end = x->offset + x->len;

    add_number(p->sum, x->offset);
    add_number(p->sum, x->len);
    while (at < end) {
        size_t len = end - at < p->room ? (size_t)(end - at) : p->room;
        int why = file_read_at(p->fd, p->block, len, at);

        if (why == 0 && p->to >= 0)
            why = file_write_at(p->to, p->block, len, at);
        if (why)
            return why;
        file_digester_add(p->sum, p->block, len);
        (void)atomic_fetch_add(&p->progress->steps, 1);
        if (atomic_load(&p->progress->cancel))
            return ECANCELED;
        at += len;
    }
    return 0;
}

int tree_digest_of(uint8_t digest[TREE_DIGEST],
                   const struct tree_index *t,
                   uint32_t entry,
                   int fd,
                   int to,
                   struct tree_progress *p)
{
    uint64_t data = t->entry[entry].data;
    struct pass pass = {.fd = fd, .to = to, .progress = p};
    const struct tree_extent *x;
    struct file_digest sum;
    size_t n;
    int why = 0;

    pass.room = data < BLOCK ? (size_t)data + 1 : BLOCK;
    pass.sum = file_digester_create();
    pass.block = malloc(pass.room);
    if (!pass.sum || !pass.block)
        why = ENOMEM;
    else
        add_number(pass.sum, t->entry[entry].size);
    x = tree_index_extents(t, entry, &n);
    for (size_t i = 0; why == 0 && i < n; i++)
        why = pass_over(&pass, &x[i]);
    if (why == 0) {
        sum = file_digester_end(pass.sum);
        memcpy(digest, sum.byte, TREE_DIGEST);
    }
    file_digester_destroy(pass.sum);
    free(pass.block);
    return why;
}
