/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/receiving.h"
#include "launcher/base/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_file(struct receiving *r,
                     const char *name,
                     int flags,
                     struct es_error *err)
{
    const char *why;

    r->fd = user_file_create(name, flags, &why);
    if (r->fd >= 0)
        return 0;
    return es_fail(err, ES_USAGE, "name a file that you may write",
                   "--gather: %s: %s", name, why);
}

int receiving_open(struct receiving *r,
                   const char *path,
                   int sync,
                   struct es_error *err)
{
    struct stat st;

    memset(r, 0, sizeof *r);
    r->fd = STDOUT_FILENO;
    r->path = path;
    if (!path)
        return 0;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return open_file(r, path, 0, err);
    if (asprintf(&r->part, "%s.part", path) < 0) {
        r->part = NULL;
        return es_no_memory(err);
    }
    r->sync = sync;
    if (open_file(r, r->part, O_NOFOLLOW, err) == 0)
        return 0;
    free(r->part);
    r->part = NULL;
    return -1;
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

/* Give the gathered file its name; what is told as done is on the disk. */
static int give_name(const struct receiving *r)
{
    if (rename(r->part, r->path) < 0)
        return -1;
    return r->sync ? user_file_sync_name(r->path) : 0;
}

int receiving_close(struct receiving *r, int success, struct es_error *err)
{
    int sync = r->part && success && r->sync, bad, rc = 0;

    free(r->part_of);
    r->part_of = NULL;
    if (!r->path)
        return 0;
    bad = sync && fsync(r->fd) < 0;
    if (close(r->fd) < 0 || bad || (r->part && success && give_name(r) < 0))
        rc = es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s", r->path,
                     strerror(errno));
    if (r->part && !success && r->frames == 0)
        (void)unlink(r->part); /* nothing of worth in it */
    free(r->part);
    r->part = NULL;
    return rc;
}
