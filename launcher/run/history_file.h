/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history_file.h - files of lines in the user's state directory, which outlive
 * a run: $XDG_STATE_HOME/evenstep, or below ~/.local/state, made if it is not
 * there.
 *
 * A file that has grown over a size becomes NAME.old, and a new one begins.
 * Neither links nor files of others are read or written.
 */
#ifndef LAUNCHER_RUN_HISTORY_FILE_H
#define LAUNCHER_RUN_HISTORY_FILE_H

#include <jansson.h>
#include <stddef.h>

/* Append a line, given with its newline, to a file that is to have `most` bytes
 * or a bit more.  0, or -1 with errno. */
int history_file_append(const char *name, const char *line, size_t most);
/* Likewise, of a JSON value, which is taken over, its reals with so many digits, 0:
 * with all; NULL: memory ran out. */
int history_file_append_json(const char *name,
                             json_t *value,
                             size_t digits,
                             size_t most);
/* All lines, the oldest first.  A file that is far larger than it can be is
 * none of ours. */
void history_file_read(const char *name,
                       size_t most,
                       void (*take)(void *arg, const char *line),
                       void *arg);

#endif
