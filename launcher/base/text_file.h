/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_file.h - how a file begins that others have written: by a byte order mark,
 * which is no part of the text, or as one that is no text before a command has
 * made it one.  Pure, but for text_file_skip_mark().
 */
#ifndef LAUNCHER_BASE_TEXT_FILE_H
#define LAUNCHER_BASE_TEXT_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the mark that a text in UTF-8 begins with: 3, or 0. */
size_t text_file_mark(const char *text, size_t len);
/* Pass over it; nothing of the file was read yet. */
void text_file_skip_mark(FILE *file);

#endif
