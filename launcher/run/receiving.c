/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/receiving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int receiving_open(struct receiving *r,
                   const char *path,
                   int sync,
                   struct es_error *err)
{
    memset(r, 0, sizeof *r);
    r->fd = STDOUT_FILENO;
    r->path = path && strcmp(path, "-") != 0 ? path : NULL;
    r->sync = sync;
    if (!r->path)
        return 0;
    if (out_file_open(&r->file, "--gather", path, OUT_LOCKED, err) < 0)
        return -1;
    r->fd = r->file.fd;
    return 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int make_room(struct receiving *r, size_t n)
{
    struct part *part;

    if (n <= r->cap)
        return 0;
    part = reallocarray(r->part_of, n, sizeof *part);
    if (!part)
        return -1;
    r->part_of = part;
    r->cap = n;
    return 0;
}

/* The parts of a frame in the order of their units; returns how many. */
static size_t sort_parts(struct receiving *r,
                         struct piece *piece,
                         size_t n_pieces,
                         const struct kept *kept,
                         size_t n_kept)
{
    size_t n = 0;

    for (size_t i = 0; i < n_kept; i++)
        if (!kept[i].failed)
            r->part_of[n++] =
                (struct part){.begin = kept[i].units.begin, .kept = &kept[i]};
    for (size_t i = 0; i < n_pieces; i++)
        if (piece[i].part.state == PIECE_DONE)
            r->part_of[n++] = (struct part){.begin = piece[i].part.units.begin,
                                            .out = &piece[i].out};
    if (n > 0)
        qsort(r->part_of, n, sizeof *r->part_of, by_begin);
    return n;
}

static int write_part(const struct receiving *r, const struct part *p)
{
    return p->kept ? journal_write_output(r->journal, p->kept, r->fd)
                   : spool_write_to(p->out, r->fd);
}

int receiving_frame(struct receiving *r,
                    struct distribution *d,
                    struct es_error *err)
{
    size_t n, pieces;
    const struct kept *kept =
        journal_kept(r->journal, distribution_frame(d)->number, &n);
    struct piece *piece = distribution_pieces(d, &pieces);

    if (make_room(r, n + pieces) < 0)
        return es_no_memory(err);
    n = r->elsewhere ? 0 : sort_parts(r, piece, pieces, kept, n);
    for (size_t i = 0; i < n; i++)
        if (write_part(r, &r->part_of[i]) < 0)
            return es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s",
                           r->path ? r->path : "stdout", strerror(errno));
    r->frames++;
    return 0;
}

int receiving_close(struct receiving *r, int success, struct es_error *err)
{
    free(r->part_of);
    r->part_of = NULL;
    if (success || r->frames > 0)
        return r->path ? out_file_commit(&r->file, r->sync, err) : 0;
    out_file_abandon(&r->file); /* nothing of worth in it */
    return 0;
}
