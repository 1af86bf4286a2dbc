/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf_text.h - the text of a configuration, before libconfuse reads it: what that
 * is not to see is blanked, and every line keeps its number.
 *
 * Pure.  A file for a newer evenstep says `version = "0.3"`: of it keys that this
 * one does not know are left out, so a site that goes back to an older release
 * keeps its file, and its jobs.
 */
#ifndef LAUNCHER_CONFIG_CONF_TEXT_H
#define LAUNCHER_CONFIG_CONF_TEXT_H

/* Comments, but for one that is open at the end: libconfuse 3.3 counts a line with
 * one in it three times. */
void conf_text_blank_comments(char *text);
/* "0.3", or "0.3.1"? */
int conf_text_is_version(const char *text);
/* Does the text say that it is for a release after `ours`, as "0.2.0"? */
int conf_text_is_newer(const char *text, const char *ours);
/* Put blanks in place of the first key of that name on that line (from 1 on), with its
 * value or section, which may end on a later one.  0, or -1: it is not there, or has
 * no end. */
int conf_text_blank_key(char *text, int line, const char *key);

#endif
