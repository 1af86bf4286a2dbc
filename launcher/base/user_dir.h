/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_dir.h - the directories of this user in /dev/shm: evenstep-<uid>, or
 * evenstep-<uid>.<random> where another user has taken that name.
 *
 * A directory counts only if it belongs to the user and is closed to all others
 * (0700).  So another user can neither keep us from having one nor make us use
 * a foreign one.
 */
#ifndef LAUNCHER_BASE_USER_DIR_H
#define LAUNCHER_BASE_USER_DIR_H

#include <dirent.h>

#define USER_DIR_BASE "/dev/shm"
#define USER_DIR_NAME 48 /* bytes of such a name, with its NUL */

/* Open a directory in the directory `at`, if it is the user's alone; with make
 * it is created if it is missing.  -1 with errno. */
int user_dir_open(int at, const char *name, int make);

/* A walk over all of them; open while list is not NULL. */
struct user_dirs {
    DIR *list;
    int listing; /* the name without a suffix has been tried */
    char name[USER_DIR_NAME];
};

/* Begin a walk.  0, or -1 with errno (nothing to be closed). */
int user_dirs_open(struct user_dirs *all);
/* Open the next one, which the caller closes; all->name is its name until the
 * next call.  -1: there is no other. */
int user_dirs_next(struct user_dirs *all);
void user_dirs_close(struct user_dirs *all);

/* Open the first of them, and copy its name; if there is none, create one.  -1
 * with errno. */
int user_dir_make(char name[USER_DIR_NAME]);
/* Remove it if it is empty; while another step uses it, it is not. */
void user_dir_remove(const char *name);

#endif
