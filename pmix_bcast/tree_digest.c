/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_digest.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/file_digest.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/segmenter.h"

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

static int begin(struct pass *p, uint64_t bytes)
{
    p->room = bytes < BLOCK ? (size_t)bytes + 1 : BLOCK;
    p->block = malloc(p->room);
    p->sum = file_digester_create();
    return p->block && p->sum ? 0 : ENOMEM;
}

static void end(struct pass *p)
{
    file_digester_destroy(p->sum);
    free(p->block);
}

static void add_number(struct file_digester *sum, uint64_t v)
{
    uint8_t bytes[8];

    put_u32(bytes, (uint32_t)(v >> 32));
    put_u32(bytes + 4, (uint32_t)v);
    file_digester_add(sum, bytes, sizeof bytes);
}

static int is_cancelled(const struct pass *p)
{
    (void)atomic_fetch_add(&p->progress->steps, 1);
    return tree_progress_is_over(p->progress);
}

static int pass_over(struct pass *p, const struct tree_extent *x)
{
    uint64_t at = x->offset, to = x->offset + x->len;

    while (at < to) {
        size_t len = to - at < p->room ? (size_t)(to - at) : p->room;
        int why = file_read_at(p->fd, p->block, len, at);

        if (why == 0 && p->to >= 0)
            why = file_write_at(p->to, p->block, len, at);
        if (why)
            return why;
        file_digester_add(p->sum, p->block, len);
        if (is_cancelled(p))
            return ECANCELED;
        at += len;
    }
    return 0;
}

static void end_digest(struct pass *p, uint8_t digest[TREE_DIGEST])
{
    struct file_digest sum = file_digester_end(p->sum);

    memcpy(digest, sum.byte, TREE_DIGEST);
    file_digester_restart(p->sum);
}

/* --- of a whole file ------------------------------------------------------ */

static int of_extents(struct pass *p,
                      const struct tree_index *t,
                      uint32_t entry)
{
    size_t n;
    const struct tree_extent *x = tree_index_extents(t, entry, &n);
    int why = 0;

    add_number(p->sum, t->entry[entry].size);
    for (size_t i = 0; why == 0 && i < n; i++) {
        add_number(p->sum, x[i].offset);
        add_number(p->sum, x[i].len);
        why = pass_over(p, &x[i]);
    }
    return why;
}

/* Ends with the first segment that is another one. */
static int check_segments(struct pass *p,
                          const struct tree_index *t,
                          uint32_t entry)
{
    size_t n;
    const struct tree_extent *x = tree_index_extents(t, entry, &n);
    uint8_t digest[TREE_DIGEST];

    for (uint32_t i = 0; i < n; i++) {
        struct tree_segment s = tree_index_segment(t, entry, i);
        int why = pass_over(p, &x[i]);

        if (why)
            return why;
        end_digest(p, digest);
        if (memcmp(digest, s.digest, TREE_DIGEST) != 0)
            return ENODATA;
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
    const struct tree_entry *e = &t->entry[entry];
    struct pass pass = {.fd = fd, .to = to, .progress = p};
    int why = begin(&pass, e->data);

    if (why == 0 && e->cuts)
        why = check_segments(&pass, t, entry);
    else if (why == 0)
        why = of_extents(&pass, t, entry);
    if (why == 0 && e->cuts)
        why = tree_digest_of_segments(digest, t, entry);
    else if (why == 0)
        end_digest(&pass, digest);
    end(&pass);
    return why;
}

int tree_digest_of_segments(uint8_t digest[TREE_DIGEST],
                            const struct tree_index *t,
                            uint32_t entry)
{
    const struct tree_entry *e = &t->entry[entry];
    struct file_digester *sum = file_digester_create();
    struct file_digest d;

    if (!sum)
        return ENOMEM;
    add_number(sum, UINT64_MAX); /* no size: never the digest of data */
    add_number(sum, e->size);
    for (uint32_t i = 0; i < e->segments; i++) {
        struct tree_segment s = tree_index_segment(t, entry, i);

        add_number(sum, s.offset);
        add_number(sum, s.len);
        file_digester_add(sum, s.digest, TREE_DIGEST);
    }
    d = file_digester_end(sum);
    memcpy(digest, d.byte, TREE_DIGEST);
    file_digester_destroy(sum);
    return 0;
}

/* --- cutting -------------------------------------------------------------- */

struct cutter {
    struct pass pass;
    struct segmenter segmenter;
    struct tree_cuts *cuts;
    struct tree_segment open;
};

static int end_segment(struct cutter *c)
{
    struct tree_cuts *cuts = c->cuts;
    struct tree_segment *s = array_grow(cuts->segment, &cuts->room, cuts->n + 1,
                                        sizeof *s, TREE_SEGMENTS_MAX);

    if (!s)
        return ENOMEM;
    cuts->segment = s;
    end_digest(&c->pass, c->open.digest);
    s[cuts->n++] = c->open;
    c->open.offset += c->open.len;
    c->open.len = 0;
    return 0;
}

static int cut_block(struct cutter *c, size_t len)
{
    const uint8_t *at = c->pass.block;

    while (len > 0) {
        int ends;
        size_t n = segmenter_take(&c->segmenter, at, len, &ends);

        file_digester_add(c->pass.sum, at, n);
        c->open.len += (uint32_t)n;
        if (ends && end_segment(c))
            return ENOMEM;
        at += n;
        len -= n;
    }
    return 0;
}

static int cut_extent(struct cutter *c, const struct tree_extent *x)
{
    struct pass *p = &c->pass;
    uint64_t at = x->offset, to = x->offset + x->len;

    c->open.offset = at;
    while (at < to) {
        size_t len = to - at < p->room ? (size_t)(to - at) : p->room;
        int why = file_read_at(p->fd, p->block, len, at);

        if (why == 0)
            why = is_cancelled(p) ? ECANCELED : cut_block(c, len);
        if (why)
            return why;
        at += len;
    }
    segmenter_end(&c->segmenter);
    return c->open.len > 0 ? end_segment(c) : 0;
}

int tree_digest_cut(struct tree_cuts *cuts,
                    const struct tree_extent *extent,
                    size_t n,
                    int fd,
                    struct tree_progress *p)
{
    struct cutter c = {.pass = {.fd = fd, .progress = p}, .cuts = cuts};
    int why = begin(&c.pass, BLOCK);

    segmenter_init(&c.segmenter);
    for (size_t i = 0; why == 0 && i < n; i++)
        why = cut_extent(&c, &extent[i]);
    end(&c.pass);
    return why;
}
