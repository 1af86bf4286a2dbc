/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notice.h - what evenstep says to people on stderr: one line an event, and
 * the progress line of a terminal, which notices never run into.
 */
#ifndef LAUNCHER_BASE_NOTICE_H
#define LAUNCHER_BASE_NOTICE_H

#include <stddef.h>

/* One line "evenstep: …" on stderr. */
void notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Text of others, each of its lines behind "name: ". */
void notice_lines(const char *name, const char *text, size_t len);
/* Is stderr a terminal that can show a progress line? */
int notice_is_terminal(void);
/* Replace the progress line; NULL takes it away.  Only on a terminal. */
void notice_progress(const char *line);

#endif
