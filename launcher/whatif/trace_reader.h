/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_reader.h - the lines of a trace file, one after another (trace.h).
 *
 * The journal of a run (journal.h) is read as if it were its report: all of it
 * first, as slices of several frames may be mixed, and some may not count in the
 * end.  The journal does not say when a slice came back, so a frame lasts for as
 * long as the commands of its slowest node ran.  A last line of a journal that is
 * not whole is ignored.
 */
#ifndef LAUNCHER_WHATIF_TRACE_READER_H
#define LAUNCHER_WHATIF_TRACE_READER_H

#include "launcher/whatif/journal_slices.h"
#include "launcher/whatif/trace.h"

struct trace_reader {
    FILE *file;
    size_t number; /* of the last line that was read, from 1 */
    char *text;
    size_t room;
    int is_journal;
    int is_read; /* the journal is, to its end */
    struct journal_slices slices;
};

/* {.file = ...} is a reader at the start of that file, which stays open. */
void trace_reader_clear(struct trace_reader *r);

/*
 * The next line, or the next frame of a journal.  Returns 1, and *line must be
 * cleared; 0 at the end of the file; -1 as trace_parse() does, or if the file
 * cannot be read or a line is longer than TRACE_LINE_MAX.
 */
int trace_reader_next(struct trace_reader *r,
                      struct trace_line *line,
                      struct es_error *err);

#endif
