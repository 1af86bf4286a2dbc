/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named_files.h - the files that one command line names: what it writes is not
 * what it reads, nor what else it writes.
 *
 * Files are compared before any is opened: those that are there by device and
 * inode, those that are not yet by their folder and name; both through links.
 * What is no regular file may be named twice.
 */
#ifndef LAUNCHER_BASE_NAMED_FILES_H
#define LAUNCHER_BASE_NAMED_FILES_H

#include "launcher/base/file_place.h"
#include "launcher/base/option.h"
#include "pmix_bcast/error.h"

#include <stddef.h>

#define NAMED_FILES_MAX 8 /* that a command writes */

struct named_files {
    struct named_file {
        const char *option, *path; /* "joblog" */
        struct file_place at;      /* closed; not there: its folder and name */
    } written[NAMED_FILES_MAX];
    size_t n;
    char stdin_of[40]; /* "--lines"; "": nobody reads it */
};

/* --option path is written; both must outlive f.  Fails with ES_USAGE if it is one
 * of those before, or has no name. */
int named_files_written(struct named_files *f,
                        const char *option,
                        const char *path,
                        struct es_error *err);
/* Path is read, by the option, or if that is NULL as what, "the program".  Fails
 * with ES_USAGE if it is one that is written, or stdin, "-", for the second time.
 * A path of NULL is none. */
int named_files_read(struct named_files *f,
                     const char *option,
                     const char *what,
                     const char *path,
                     struct es_error *err);
/* Those of a table of options, whose values are in *at, and the configuration's;
 * what is written is in *f then. */
int named_files_of_options(struct named_files *f,
                           const struct option table[],
                           const void *at,
                           struct es_error *err);

#endif
