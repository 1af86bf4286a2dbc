/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_slices.h - the slices of a journal (journal.h) that count in the end, frame
 * by frame, for who looks at a run afterwards.
 *
 * Only the journal is looked at: a slice whose lines were changed counts until a
 * resume has done its units anew, or until its text has no such line.
 */
#ifndef LAUNCHER_WHATIF_JOURNAL_SLICES_H
#define LAUNCHER_WHATIF_JOURNAL_SLICES_H

#include "launcher/run/frame.h"
#include "pmix_bcast/error.h"

#include <jansson.h>

/* Zeros are none; it is cleared with journal_slices_clear(). */
struct journal_slices {
    json_t *
        line; /* all slices, as the journal has them, in its order; NULL: none */
    struct kept *kept; /* one each; settled: those that count first, by frame */
    size_t n, room;
    size_t next; /* of kept: with it the next frame begins */
    size_t
        *queued; /* one a frame of a queue: how often it was queued, or gone */
    size_t n_queued, queued_room;
    uint64_t n_lines; /* of the text, as it was last */
    int has_lines;    /* that is known */
};

/* Take one line of the journal, the first one too; number is that of the line, for
 * messages.  Lines that say nothing of slices are passed over.  0, or -1. */
int journal_slices_take(struct journal_slices *s,
                        json_t *line,
                        size_t number,
                        struct es_error *err);
/* All lines are taken: see which slices count.  0, or -1: units were done twice, and
 * had no reason to, or memory ran out. */
int journal_slices_settle(struct journal_slices *s, struct es_error *err);
/* The slices of the next frame, in the order of their units, as an array that the
 * caller owns, and its number.  1, 0 after the last one, or -1. */
int journal_slices_next(struct journal_slices *s,
                        json_t **slices,
                        uint64_t *frame,
                        struct es_error *err);
void journal_slices_clear(struct journal_slices *s);

#endif
