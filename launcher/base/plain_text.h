/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain_text.h - a text as one line that a terminal shows and does not obey: a
 * control character, as a file's name may have it, is written as in C, "\n" or
 * "\033".  All else stays as it is, UTF-8 and backslashes too.
 */
#ifndef LAUNCHER_BASE_PLAIN_TEXT_H
#define LAUNCHER_BASE_PLAIN_TEXT_H

#include <stddef.h>

#define PLAIN_TEXT_MOST 4u /* bytes that one may become */

/*
 * text into out, of size > 0 bytes.  Where that would be longer, each control
 * character is a '?', so that the end is there: text of less than size bytes is
 * never cut.
 */
void plain_text(char *out, size_t size, const char *text);
/* Likewise a new string, whole, for free(3); NULL: no memory. */
char *plain_text_new(const char *text);

#endif
