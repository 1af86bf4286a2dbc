/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env_file.h - the text of the file that an agent has written for the tasks of
 * its step: a line a variable, EVENSTEP_NAME=value.
 *
 * Any user can write such a file, and slurmstepd reads it: no other variable
 * passes, and a text with one wrong line is refused as a whole.  Pure.
 */
#ifndef SPANK_PLUGIN_ENV_FILE_H
#define SPANK_PLUGIN_ENV_FILE_H

#include <stddef.h>

/* A dozen variables of up to a path each come to 2 KiB; the bounds keep what
 * a user's file can do to slurmstepd small. */
#define ENV_FILE_BYTES 16384 /* of a text */
#define ENV_NAME_LEN   64
#define ENV_VALUE_LEN  4096

/*
 * Cut text[0..len], which has room for a NUL at its end, into strings
 * "NAME\0value\0", one pair a line.  Returns NULL, or why it is refused (the
 * text may have been cut in part then).
 */
const char *env_file_cut(char *text, size_t len);

#endif
