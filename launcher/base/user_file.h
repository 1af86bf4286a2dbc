/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_file.h - output files that the user names: who owns them, and that they
 * reach the disk.
 */
#ifndef LAUNCHER_BASE_USER_FILE_H
#define LAUNCHER_BASE_USER_FILE_H

/* Open the file for writing, and create it if it is missing, with further flags
 * of open(2); links are followed and others' files left alone as file_place.h
 * says.  /dev/stdout and "-" are what stdout is.  Returns a descriptor, or -1 and *why in
 * words. */
int user_file_open(const char *path, int flags, const char **why);
/* Likewise, and empty it, if it is a regular one: nobody else has it open so. */
int user_file_create(const char *path, int flags, const char **why);
/* The path by which a file that is read can be opened, more than once: its own, or
 * of "-" that of a copy of all of stdin.  NULL with errno. */
const char *user_file_in(const char *path);
/* Put the name of the file on the disk, which fsync() of the file does not do.
 * 0, or -1 with errno. */
int user_file_sync_name(const char *path);

#endif
