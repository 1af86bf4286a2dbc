/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * receiving.h - writes each finished frame's output in the order of its units,
 * frame after frame, to the gathered file or to stdout.
 *
 * The gathered file is written beside (FILE.part) and renamed when the run has
 * succeeded; a run that fails leaves FILE as it was, and the frames that were
 * finished in FILE.part.  A FILE that is there and no regular one (a pipe, a
 * device) is written to as it is.
 */
#ifndef LAUNCHER_RUN_RECEIVING_H
#define LAUNCHER_RUN_RECEIVING_H

#include "launcher/run/distribution.h"
#include "launcher/run/journal.h"

struct part { /* of a frame's output: one of the two */
    uint64_t begin;
    const struct kept *kept; /* in the journal */
    struct spool *out;       /* of a piece */
};

struct receiving {
    int fd;
    const char *path;              /* NULL: stdout */
    char *part;                    /* its name while it is written */
    int elsewhere;                 /* pieces have files of their own */
    int sync;                      /* it is on the disk before we say so */
    const struct journal *journal; /* of a run before; NULL: none */
    struct part *part_of;          /* workspace: the frame's, by their begin */
    size_t cap;
    uint64_t frames; /* written */
};

/* path must outlive r; NULL is stdout.  With sync the file is on the disk when
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
/* Close; if the run has succeeded, give the gathered file its name. */
int receiving_close(struct receiving *r, int success, struct es_error *err);

#endif
