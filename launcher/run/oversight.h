/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oversight.h - what is likely wrong with a run that could be done: a field
 * that is misspelt, a command that uses no slice, a stdin that nobody reads.
 *
 * Each is told by a line, and nothing is refused: a command may have braces of
 * its own, and what a program reads is not known for certain.
 */
#ifndef LAUNCHER_RUN_OVERSIGHT_H
#define LAUNCHER_RUN_OVERSIGHT_H

#include "launcher/run/run_options.h"

#define OVERSIGHT_FIELD_MAX 16 /* longer than any field */

/* Does the text begin with a word in braces that is near to a field and none,
 * whatever its case?  Then the field's name is in near. */
int oversight_near_field(const char *text, char near[OVERSIGHT_FIELD_MAX]);

/* Tell of such words, and of fields with a $ before them, which a shell was to
 * see and which are filled in.  Returns how many there were. */
int oversight_tell_fields(char *const command[]);

/* What of its slice a command reads, a set of these. */
enum {
    READS_BEGIN = 1,
    READS_END = 2,
    READS_COUNT = 4,
    READS_OTHER = 8,    /* its frame, label or slot */
    READS_ANY = 16,     /* it may read all of it, as by libevenstep */
    READS_UNKNOWN = 32, /* it cannot be seen */
};

/* By the fields in its words, and the variables that they name; and by what the
 * files name that are in its words: a script, or a program that asks for the
 * environment. */
unsigned oversight_words_read(char *const command[]);
unsigned oversight_files_read(char *const command[]);

/*
 * Does the command use no slice, as far as can be seen?  It does if a word has
 * a field but for {node} or, where the run is not of a queue, one of its place or
 * frame, or says EVENSTEP_ with a variable of these, or if a file that is named in
 * its words does so: a script, or a program that asks for the environment.  What
 * cannot be read, or is larger than 64 MiB, may do so.
 */
int oversight_uses_no_slice(char *const command[], int of_queue);

/* Of a run: the first, of its commands and of the names of its files, and, if there is
 * nothing to tell of a command, the second. */
void oversight_tell_command(const struct run_options *o);

/*
 * Has fd, which the run does not read, something to be read, so that somebody
 * may have meant it for the run?  A pipe with bytes in it or a file that is
 * still at its begin, and not also the stdin of our parent (a loop's or a
 * script's, which is not meant for us).
 */
int oversight_is_unread(int fd);
/* Tell it of stdin, once; *told is 0 at first. */
void oversight_tell_stdin(const struct run_options *o, int *told);

#endif
