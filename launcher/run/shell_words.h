/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shell_words.h - a command as one would type it in a shell, on one line.
 */
#ifndef LAUNCHER_RUN_SHELL_WORDS_H
#define LAUNCHER_RUN_SHELL_WORDS_H

#include <stdio.h>

/* The words with a blank between, quoted where a shell would not take them as
 * they are; whether it went well ferror() tells. */
void shell_words_print(FILE *to, char *const words[]);

#endif
