/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_name.h - the names of files that belong to a piece: templates with the
 * fields of template.h, as out/{frame}-{begin}.png.
 */
#ifndef LAUNCHER_EXEC_FILE_NAME_H
#define LAUNCHER_EXEC_FILE_NAME_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/error.h"

#define FILE_NAME_MAX 4096u /* PATH_MAX: bytes of a name, with its NUL */

enum frames { /* that there are of a run */
              FRAMES_ONE,
              FRAMES_MANY,
              FRAMES_LABELLED /* those of one label do not overlap */
};

/* Is it a template that gives each piece a name of its own, and with inside
 * one in the folder?  Fails with ES_USAGE; option is what it was given by. */
int file_name_check(const char *text,
                    const char *option,
                    enum frames frames,
                    int inside,
                    struct es_error *err);
/* Do two templates give one name to two pieces, as they differ in {begin} and {end}
 * only, or not at all? */
int file_name_clash(const char *a, const char *b);
/* May the file be one of those that have such names? */
int file_name_may_be(const char *text, const char *path);
/* The name for a piece.  Fails with ES_USAGE if it is too long, or a field that
 * was filled in leads elsewhere than the template does. */
int file_name_fill(char name[FILE_NAME_MAX],
                   const char *text,
                   const char *option,
                   const struct msg_run *run,
                   const char *node,
                   struct es_error *err);

#endif
