/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_place.h - where a path leads to: through its links, to a name in a
 * folder.
 *
 * In a sticky folder where everybody may create files (/tmp, /dev/shm) nothing
 * that another user has put there is believed: no link is followed, and no file
 * written to, as that user could read and change it later.  These are the rules
 * of Linux' fs.protected_symlinks and fs.protected_regular, which many machines
 * have switched off.  The owner of the folder is trusted.
 */
#ifndef LAUNCHER_BASE_FILE_PLACE_H
#define LAUNCHER_BASE_FILE_PLACE_H

#include <sys/stat.h>

#define PLACE_NAME_MAX 256 /* bytes of a name in a folder, with its NUL */

extern const char file_place_of_another[]; /* why not, in words */

struct file_place {
    int dir;                   /* the folder, by O_PATH */
    char name[PLACE_NAME_MAX]; /* in it; no link, unless it is_open */
    int is_open;  /* an open file of a process, as /dev/stdout is */
    int is_there; /* and this is it: */
    struct stat st;
    struct stat folder;
};

/* Find it: the folder must be there, the file need not.  Returns 0, or -1 with
 * errno and *why in words, and nothing open. */
int file_place_find(struct file_place *p, const char *path, const char **why);
void file_place_close(struct file_place *p);
/* Is the file, or link, one of another user that is not to be believed? */
int file_place_is_of_another(const struct stat *file,
                             const struct stat *folder);
/* Put the names of a folder on the disk.  0, or -1 with errno. */
int file_place_sync(int dir);

#endif
