/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stdin_readers.h - commands that read the lines of a piece as nobody has meant: a
 * shell that runs them as its script, and a program in a shell's loop of `read` that
 * takes those which the loop was to read.
 *
 * Known by their names and words only: what is not known is taken to be right.
 */
#ifndef LAUNCHER_RUN_STDIN_READERS_H
#define LAUNCHER_RUN_STDIN_READERS_H

#include "pmix_bcast/error.h"

/* A command that runs what it reads is refused with ES_USAGE. */
int stdin_readers_check(char *const command[], struct es_error *err);
/* Warn of the first program in such a loop, in its text or its script; and, if the
 * last line is_open, that is has no newline, of a loop that would not do it. */
void stdin_readers_tell(char *const command[], int is_open);

#endif
