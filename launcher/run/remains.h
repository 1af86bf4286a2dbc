/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remains.h - what a run that fails has done of its frames: it is kept, and said.
 *
 * The gathered file, or stdout, gets all before the first unit that is missing.
 * What comes after that is in the journal; without one in FILE.rest, or, where
 * there is no FILE, it is printed all the same.  One line names what is missing.
 */
#ifndef LAUNCHER_RUN_REMAINS_H
#define LAUNCHER_RUN_REMAINS_H

#include "launcher/base/hidden_file.h"
#include "launcher/run/receiving.h"
#include "launcher/run/unit_words.h"

struct remains {
    struct receiving *to;
    const struct unit_words *words;
    const char *journal;  /* its name; NULL: none is kept */
    uint64_t frames;      /* of the run; 0: as many as its queue has */
    uint64_t added;       /* parts before the first hole */
    uint64_t behind;      /* parts after it */
    uint64_t missing;     /* units of the frames at work */
    struct slice before;  /* the first hole, in that frame */
    uint64_t frame, last; /* of the first hole; that was looked at last */
    char list[300];       /* of holes */
    size_t len, holes, unnamed;
    struct hidden_file rest; /* NAME.rest, or NAME.rest.2 and so on */
    char name[4096];
    int rest_errno; /* it could not be written */
};

/* to, words and journal must outlive it. */
void remains_begin(struct remains *m,
                   struct receiving *to,
                   const struct unit_words *words,
                   const char *journal,
                   uint64_t frames);
/* Keep what there is of d's first frame; frame after frame. */
void remains_frame(struct remains *m, struct distribution *d);
/* There were all: FILE.rest gets its name, and stderr the line.  Is anything in
 * the gathered file, which is to be closed then? */
int remains_end(struct remains *m);

#endif
