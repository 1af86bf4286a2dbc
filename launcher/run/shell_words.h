/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shell_words.h - a command as one would type it in a shell.
 */
#ifndef LAUNCHER_RUN_SHELL_WORDS_H
#define LAUNCHER_RUN_SHELL_WORDS_H

#include <stdio.h>

/* The words with a blank between, quoted where a shell would not take them as
 * they are, so that any sh reads them; whether it went well ferror() tells. */
void shell_words_print(FILE *to, char *const words[]);

/* The same for a table: no line ends and no tab, so that words with a control
 * character need a shell that knows $'...', as bash, zsh and ksh do. */
void shell_words_line(FILE *to, char *const words[]);

#endif
