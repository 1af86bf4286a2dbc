/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command_fields.h - what a command's words must say of its work, so that no unit
 * is left undone unseen: fields that there are, and all of a piece.
 *
 * Refused is what would pass for done: a word in braces, or in the marks of
 * --replace, that is no field and looks like one, and a command that gets the
 * begin of its pieces and not their end, in its words or in a script that they
 * name.  The texts of programs, of python3 -c,
 * sh -c, awk and so on, have braces of their own: these are left alone.
 */
#ifndef LAUNCHER_RUN_COMMAND_FIELDS_H
#define LAUNCHER_RUN_COMMAND_FIELDS_H

#include "launcher/run/run_options.h"

/* Look at the commands of a run whose options are settled, and put fields that
 * --replace marks into braces.  0, or -1 with ES_USAGE. */
int command_fields_settle(struct run_options *o, struct es_error *err);

/* Is the word at i the text of a program, as far as the words before it say? */
int command_fields_is_text(char *const command[], size_t i);

/* Does a text of Python fill a field in between braces of an f-string? */
int command_fields_in_f_string(const char *text);

#endif
