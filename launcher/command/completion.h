/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completion.h - what a shell needs to complete evenstep's words.
 *
 * The scripts of the shells ask this program at each TAB, so that they never
 * differ from the tables.
 */
#ifndef LAUNCHER_COMMAND_COMPLETION_H
#define LAUNCHER_COMMAND_COMPLETION_H

#include "launcher/base/options.h"

#define COMPLETION_SHELLS "bash|zsh|fish"

/* Print the script of one of them, which runs `evenstep completion words` with
 * the words behind "evenstep" up to the one that is wanted. */
void completion_script(const char *shell);

/* Print what argv[n] may be, as it is typed so far and behind the words before
 * it: a word, a tab and its meaning a line; ":files" for any file.  list: of
 * all commands, until NULL. */
void completion_words(const struct subcommand *const list[],
                      size_t n,
                      char **argv);

#endif
