/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_dir.h - the directories of this user in /dev/shm: evenstep-<uid>, or
 * where somebody else has put something of that name evenstep-<uid>.<random>.
 *
 * Only one that belongs to the user and is open to nobody else (0700) is
 * taken for one of them, whatever it is called: so nobody can keep a user
 * from having one, nor have one found that is not the user's.
 */
#ifndef LAUNCHER_BASE_USER_DIR_H
#define LAUNCHER_BASE_USER_DIR_H

#include <dirent.h>

#define USER_DIR_BASE "/dev/shm"
#define USER_DIR_NAME 48 /* bytes of such a name, with its NUL */

/* Open name in the directory at as one that is the user's alone, and make it
 * before if need be; -1 with errno. */
int user_dir_open(int at, const char *name, int make);

/* All of them, one after the other; open while list is not NULL. */
struct user_dirs {
    DIR *list;
    int listing; /* the plain name has been tried */
    char name[USER_DIR_NAME];
};

/* 0, or -1 with errno (nothing to be closed). */
int user_dirs_open(struct user_dirs *all);
/* The next one, open, to be closed by the caller: its name is in *all until
 * the next call.  -1: there is no other. */
int user_dirs_next(struct user_dirs *all);
void user_dirs_close(struct user_dirs *all);

/* The first of them, open, and its name; made if there is none.  -1 with
 * errno. */
int user_dir_make(char name[USER_DIR_NAME]);
/* Remove it if it is empty: another step keeps it. */
void user_dir_remove(const char *name);

#endif
