/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notice.h - messages for people on stderr: one line for each event, and one
 * progress line on a terminal, which stays below the messages.
 */
#ifndef LAUNCHER_BASE_NOTICE_H
#define LAUNCHER_BASE_NOTICE_H

#include "pmix_bcast/error.h"

#include <stddef.h>

/* One line "evenstep: …" on stderr, whatever bytes are in it: plain_text.h. */
void notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Likewise "program: what: mend", of what ends the program. */
void notice_error(const char *program, const struct es_error *err);
/* Text that a command has written: each of its lines is printed as it is, behind
 * "name: ". */
void notice_lines(const char *name, const char *text, size_t len);
/* Is stderr a terminal that can show a progress line? */
int notice_is_terminal(void);
/* Characters that a progress line may have. */
size_t notice_columns(void);
/* Replace the progress line; NULL removes it.  Only on a terminal. */
void notice_progress(const char *line);

#endif
