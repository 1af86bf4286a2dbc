/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines_look.h - does a file of lines look as if its units were none, by what the
 * options make of it?
 *
 * What is told is told for sure signs only: a plain list is never doubted, and
 * nothing is where each line is said to be a unit (--record 1).
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
/* Units that would be cut apart, or begin elsewhere than the first, are refused with
 * ES_USAGE, with the option that mends it; a header is warned of.  Where it cannot be
 * read, who reads it in earnest says what is wrong. */
int lines_look(const struct lines *l, struct es_error *err);

#endif
