/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * receiving.h - writes each finished frame's output in the order of its units,
 * frame after frame, to the gathered file or to stdout.
 *
 * The gathered file is an out_file: it takes the place of the one of before when
 * the run is over.  A run that fails before a frame is finished leaves that one as
 * it was; one that fails later leaves the frames that were finished.
 */
#ifndef LAUNCHER_RUN_RECEIVING_H
#define LAUNCHER_RUN_RECEIVING_H

#include "launcher/base/out_file.h"
#include "launcher/run/distribution.h"
#include "launcher/run/journal.h"

struct part { /* of a frame's output: one of the two */
    uint64_t begin, end;
    const struct kept *kept; /* in the journal */
    struct spool *out;       /* of a piece */
};

struct receiving {
    int fd;
    const char *path;              /* NULL: stdout */
    struct out_file file;          /* else */
    int elsewhere;                 /* pieces have files of their own */
    int unordered;                 /* pieces are written as they come */
    int sync;                      /* it is on the disk before we say so */
    const struct journal *journal; /* of a run before; NULL: none */
    struct part *part_of;          /* workspace: the frame's, by their begin */
    size_t cap;
    uint64_t frames; /* written */
    uint64_t
        begun;   /* of the frame at work is written what is before this unit */
    int is_torn; /* a part could not be written, and nothing more is */
    uint64_t torn; /* of the frame then, where that part begins */
};

/* path must outlive r; NULL and "-" are stdout.  With sync the file is on the disk when
 * receiving_close() has returned. */
int receiving_open(struct receiving *r,
                   const char *path,
                   int sync,
                   struct es_error *err);
/* Write, unless it is elsewhere, d's first frame, of which every unit is done: by
 * its pieces or, in a run before, in the journal. */
int receiving_frame(struct receiving *r,
                    struct distribution *d,
                    struct es_error *err);
/* A piece of d's first frame is done: write what is whole from the frame's begin,
 * if that is more now; unordered, write that piece, and keep none of its output.
 * Fails with ES_WORK. */
int receiving_advance(struct receiving *r,
                      struct distribution *d,
                      struct piece *p,
                      struct es_error *err);
/* The parts of d's first frame that are done and not yet written, to r->part_of in
 * the order of their units.  *n: how many.  Fails with ES_WORK. */
int receiving_parts(struct receiving *r,
                    struct distribution *d,
                    size_t *n,
                    struct es_error *err);
/* Write one of them behind the others.  0, or -1 with errno: it is torn. */
int receiving_add(struct receiving *r, const struct part *p);
/* Likewise to another file. */
int receiving_write(const struct receiving *r, const struct part *p, int fd);
/* Will the file have its name only when it is closed? */
int receiving_is_beside(const struct receiving *r);
/* Close, and give the gathered file its name, unless the run has failed with
 * nothing done. */
int receiving_close(struct receiving *r, int success, struct es_error *err);

#endif
