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

int receiving_parts(struct receiving *r,
                    struct distribution *d,
                    size_t *n,
                    struct es_error *err)
{
    size_t n_kept, n_pieces;
    const struct kept *kept =
        journal_kept(r->journal, distribution_frame(d)->number, &n_kept);
    struct piece *piece = distribution_pieces(d, &n_pieces);

    *n = 0;
    if (make_room(r, n_kept + n_pieces) < 0)
        return es_no_memory(err);
    for (size_t i = 0; i < n_kept; i++)
        if (!kept[i].failed && kept[i].units.end > r->begun)
            r->part_of[(*n)++] = (struct part){.begin = kept[i].units.begin,
                                               .end = kept[i].units.end,
                                               .kept = &kept[i]};
    for (size_t i = 0; i < n_pieces; i++)
        if (piece[i].part.state == PIECE_DONE
            && piece[i].part.units.end > r->begun)
            r->part_of[(*n)++] =
                (struct part){.begin = piece[i].part.units.begin,
                              .end = piece[i].part.units.end,
                              .out = &piece[i].out};
    if (*n > 0)
        qsort(r->part_of, *n, sizeof *r->part_of, by_begin);
    return 0;
}

int receiving_write(const struct receiving *r, const struct part *p, int fd)
{
    return p->kept ? journal_write_output(r->journal, p->kept, fd)
                   : spool_write_to(p->out, fd);
}

int receiving_is_beside(const struct receiving *r)
{
    return r->path && r->file.file.fd > 0;
}

/* What of a part was written is not kept, where that can be. */
static int take_back(struct receiving *r, const struct part *p, off_t at)
{
    int why = errno;

    r->is_torn = 1;
    r->torn = p->begin;
    if (receiving_is_beside(r) && at >= 0)
        (void)(ftruncate(r->fd, at) == 0 && lseek(r->fd, at, SEEK_SET));
    errno = why;
    return -1;
}

int receiving_add(struct receiving *r, const struct part *p)
{
    off_t at = lseek(r->fd, 0, SEEK_CUR);

    return receiving_write(r, p, r->fd) < 0 ? take_back(r, p, at) : 0;
}

static int fail(const struct receiving *r, struct es_error *err)
{
    return es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s",
                   r->path ? r->path : "stdout", strerror(errno));
}

int receiving_frame(struct receiving *r,
                    struct distribution *d,
                    struct es_error *err)
{
    size_t n = 0;

    if (!r->elsewhere && receiving_parts(r, d, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (receiving_add(r, &r->part_of[i]) < 0)
            return fail(r, err);
    r->frames++;
    r->begun = 0;
    return 0;
}

/* What a run before has left out is no hole: it has printed nothing that is kept. */
static uint64_t behind_failed(const struct receiving *r,
                              const struct distribution *d,
                              uint64_t at)
{
    size_t n;
    const struct kept *kept =
        journal_kept(r->journal, distribution_frame(d)->number, &n);

    for (size_t i = 0; i < n; i++)
        if (kept[i].failed && kept[i].units.begin == at)
            at = kept[i].units.end;
    return at;
}

/* At once, and never again. */
static int write_now(struct receiving *r, struct piece *p, struct es_error *err)
{
    if (spool_write_to(&p->out, r->fd) < 0)
        return fail(r, err);
    spool_clear(&p->out);
    return 0;
}

int receiving_advance(struct receiving *r,
                      struct distribution *d,
                      struct piece *p,
                      struct es_error *err)
{
    uint64_t at = r->begun;
    size_t n;

    if (r->unordered && !receiving_is_beside(r))
        return write_now(r, p, err);
    if (at < distribution_frame(d)->begin)
        at = distribution_frame(d)->begin;
    if (p->part.units.begin > at || receiving_is_beside(r))
        return 0;
    if (receiving_parts(r, d, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n && r->part_of[i].begin <= at; i++) {
        struct part *part = &r->part_of[i];

        if (receiving_add(r, part) < 0)
            return fail(r, err);
        at = behind_failed(r, d, part->end);
        r->begun = at;
    }
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
