/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_file.h - files that the user names for us to write: whose they are, and
 * that they are on the disk.
 */
#ifndef LAUNCHER_BASE_USER_FILE_H
#define LAUNCHER_BASE_USER_FILE_H

/*
 * May what was opened at path be written?  Not if another user has put it
 * there, in a folder where everybody may make files (/tmp, /dev/shm): he could
 * read it, and change it behind us.  As fs.protected_regular of Linux has it,
 * which is off on many a machine.  A folder's owner is trusted with what is in
 * it.  Returns NULL, or why not, in words.
 */
const char *user_file_why_not(int fd, const char *path);
/* Open it, a new one or empty, with further flags of open(2); -1 and *why. */
int user_file_create(const char *path, int flags, const char **why);
/* The name itself, and not only its bytes, is on the disk.  0, or -1 with
 * errno. */
int user_file_sync_name(const char *path);

#endif
