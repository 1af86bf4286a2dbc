/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_reader.h - the lines of a trace file, one after another (trace.h).
 *
 * A run's journal (journal.h) is such a file, too: its slices come out as the
 * frames that they are of, each when a slice of another follows or the file
 * ends, as the lines of a report.  As the journal does not say when a slice
 * came back, a frame lasts for as long as the commands of its slowest node ran.
 * What a crash has left of a journal's last line is passed over.
 */
#ifndef LAUNCHER_WHATIF_TRACE_READER_H
#define LAUNCHER_WHATIF_TRACE_READER_H

#include "launcher/whatif/trace.h"

struct trace_reader {
    FILE *file;
    size_t number; /* of the line that was read last, from 1 */
    char *text;
    size_t room;
    int is_journal;
    json_t *slices; /* of the frame that is under way; NULL: none is */
    json_int_t frame;
};

/* {.file = ...} is a reader at the start of that file, which stays open. */
void trace_reader_clear(struct trace_reader *r);

/*
 * The next line, or frame of a journal: 1, with *line to be cleared; 0 at the
 * end of the file; -1 as trace_parse(), or if the file cannot be read or a line
 * is longer than TRACE_LINE_MAX.
 */
int trace_reader_next(struct trace_reader *r,
                      struct trace_line *line,
                      struct es_error *err);

#endif
