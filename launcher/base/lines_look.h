/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines_look.h - does a file of lines look as if its units were no lines?
 *
 * What is told is told for sure signs only: a plain list is never doubted.
 */
#ifndef LAUNCHER_BASE_LINES_LOOK_H
#define LAUNCHER_BASE_LINES_LOOK_H

#include "launcher/base/lines.h"

enum lines_kind {
    LINES_PLAIN,
    LINES_FASTA, /* ">" and lines that begin otherwise */
    LINES_FASTQ, /* "@", a sequence, "+", as many letters; again and again */
    LINES_FASTQ_WRAPPED, /* the same, where a sequence may have several lines */
    LINES_HEADER         /* lines that name what stands in those below */
};

/* What the begin of a file looks like; whole: it is all of it.  *header: of how many
 * lines that is.  The last line may be cut off. */
enum lines_kind lines_kind(const char *text,
                           size_t len,
                           int whole,
                           size_t *header);
/* Say on stderr what would go wrong, and which option mends it. */
void lines_look(const struct lines *l);

#endif
