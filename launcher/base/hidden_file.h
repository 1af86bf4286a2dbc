/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hidden_file.h - a file that nobody sees before it is whole.
 *
 * It has no name until hidden_file_show(), and goes away with this process;
 * where the file system cannot do that, it has a name with a dot until then.
 */
#ifndef LAUNCHER_BASE_HIDDEN_FILE_H
#define LAUNCHER_BASE_HIDDEN_FILE_H

#include "launcher/base/file_place.h"

#include <sys/types.h>

struct hidden_file {
    int fd;  /* to be written to; 0: there is no file */
    int dir; /* its folder: where links lead to */
    char name[PLACE_NAME_MAX];
    char before[PLACE_NAME_MAX]; /* its name until it is shown; "": none */
};

/* Open one that is to be path, in folders that are made if they are missing; a
 * folder, a pipe or a device at that path stays: EEXIST.  mode as of open(2).
 * 0, or -1 with errno and nothing open. */
int hidden_file_open(struct hidden_file *f, const char *path, mode_t mode);
/* Likewise at a place that was found, which is closed in any case. */
int hidden_file_open_at(struct hidden_file *f,
                        struct file_place *p,
                        mode_t mode);
/* Give it the mode, and where we may the owner, of the file whose place it is to
 * take; if there is none, or it
 * is of another user as file_place.h has it, nothing changes. */
void hidden_file_like_old(struct hidden_file *f);
/* Put it on the disk under the name .NAME.evenstep-part, so that it outlives us: for
 * hidden_file_recover().  0, or -1 with errno. */
int hidden_file_keep(struct hidden_file *f);
/* Show what a process before has kept for path: 1, 0 if there is nothing, or -1
 * with errno. */
int hidden_file_recover(const char *path);
/* Remove what is kept in a folder for names that begin so, as nobody will
 * recover it. */
void hidden_file_sweep(const char *folder, const char *begin);
/* Give it its name, in place of another file's; with sync both are on the disk
 * then.  0, or -1 with errno; it is closed in any case. */
int hidden_file_show(struct hidden_file *f, int sync);
/* Nothing is to stay of it.  {0} is allowed. */
void hidden_file_drop(struct hidden_file *f);

#endif
