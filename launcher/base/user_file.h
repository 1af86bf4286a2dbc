/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_file.h - output files that the user names: who owns them, and that they
 * reach the disk.
 */
#ifndef LAUNCHER_BASE_USER_FILE_H
#define LAUNCHER_BASE_USER_FILE_H

/*
 * May the file that was opened at path be written to?  Not if another user has
 * created it in a sticky folder where everybody may create files (/tmp,
 * /dev/shm): that user could read it and change it later.  The rule is that of
 * Linux' fs.protected_regular, which many machines have switched off.  The
 * owner of the folder is trusted.  Returns NULL, or why not, in words.
 */
const char *user_file_why_not(int fd, const char *path);
/* Create the file or empty it, and open it for writing, with further flags of
 * open(2).  Returns a descriptor, or -1 and *why in words. */
int user_file_create(const char *path, int flags, const char **why);
/* Put the name of the file on the disk, which fsync() of the file does not do.
 * 0, or -1 with errno. */
int user_file_sync_name(const char *path);

#endif
