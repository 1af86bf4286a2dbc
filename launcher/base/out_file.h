/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * out_file.h - a file that a command writes, and that a user names.
 *
 * It is written beside, without a name, and takes the place of the file of before
 * when it is committed, with that file's mode and, where we may, owner.  Links are
 * followed and others' files left alone as file_place.h says.  What is there and
 * no regular file (a pipe, a device, /dev/stdout) is written to as it is, and so
 * is stdout, which is called "-".
 */
#ifndef LAUNCHER_BASE_OUT_FILE_H
#define LAUNCHER_BASE_OUT_FILE_H

#include "launcher/base/hidden_file.h"
#include "pmix_bcast/error.h"

#include <stdio.h>

struct out_file {
    const char *option, *path;
    int fd;                  /* to be written to; 0: closed */
    struct hidden_file file; /* {0}: it is written as it is */
    int lock_dir, lock;      /* 0: there is none */
    char lock_name[PLACE_NAME_MAX];
};

/* Where others would take its place by turns: also tasks of one job array. */
enum out_lock { OUT_UNLOCKED, OUT_LOCKED };

/* Messages begin with the option, "--gather", or with the path if it is NULL; both
 * must outlive f.  OUT_LOCKED: no other process has this file open so.  Fails with
 * ES_USAGE, and nothing is open then. */
int out_file_open(struct out_file *f,
                  const char *option,
                  const char *path,
                  enum out_lock lock,
                  struct es_error *err);
/* It is whole: give it its name; with sync both are on the disk then.  Fails with
 * ES_WORK; it is closed in any case. */
int out_file_commit(struct out_file *f, int sync, struct es_error *err);
/* Write all of it by one function, which returns 0, or -1 where memory ran out.
 * Fails with ES_WORK. */
int out_file_write(const char *option,
                   const char *path,
                   int (*print)(FILE *out, const void *arg),
                   const void *arg,
                   struct es_error *err);
/* Close it, and nothing is to stay of it.  {0} is allowed. */
void out_file_abandon(struct out_file *f);

#endif
