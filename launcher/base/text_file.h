/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_file.h - how a file begins that others have written: by a byte order mark,
 * which is no part of the text, or as one that is no text before a command has
 * made it one.
 */
#ifndef LAUNCHER_BASE_TEXT_FILE_H
#define LAUNCHER_BASE_TEXT_FILE_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdio.h>

#define TEXT_FILE_BEGIN 8u /* bytes that tell which it is */

/* Bytes of the mark that a text in UTF-8 begins with: 3, or 0. */
size_t text_file_mark(const char *text, size_t len);
/* Pass over it; nothing of the file was read yet. */
void text_file_skip_mark(FILE *file);

struct text_file_kind {
    const char *name;    /* "gzip" */
    const char *command; /* that writes its text, of a file at its stdin */
    char *const *unpack; /* likewise as words; NULL: it must be typed */
};

/* Of a file that begins with these bytes, at most TEXT_FILE_BEGIN; NULL: it may be a
 * text. */
const struct text_file_kind *text_file_kind(const char *begin, size_t n);
/* Write the text of a packed file, whose descriptor is `from`, to another.  Fails with
 * ES_USAGE where there is no such command or the file is no good, and with ES_WORK if
 * a signal comes meanwhile.  what: "--lines: t.gz" */
int text_file_unpack(const struct text_file_kind *kind,
                     int from,
                     int to,
                     const char *what,
                     struct es_error *err);
/* Copy all that comes, to the end.  0, or -1 with errno: EINTR is a signal. */
int text_file_copy(int from, int to);

#endif
