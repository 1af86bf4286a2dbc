/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * last_words.h - a command has failed for a reason of ours: its end is told as if
 * the command had said so itself, behind what it has written to stderr.  Pure.
 */
#ifndef LAUNCHER_EXEC_LAST_WORDS_H
#define LAUNCHER_EXEC_LAST_WORDS_H

#include "launcher/exec/execution.h"

#define LAST_WORDS_EDGE 16 /* bytes around a reason, with the NUL */

/*
 * end is of one that has failed with status 126, as what could not be started,
 * for that reason.  words has room for what it has said (EXECUTION_ERR_MAX), why
 * and LAST_WORDS_EDGE: it may have the former already, and has all of it then.
 * A reason that is longer is cut off.
 */
void last_words_add(struct execution_end *end,
                    char *words,
                    size_t size,
                    const char *why);

#endif
