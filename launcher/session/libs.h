/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libs.h - the shared objects that a program needs, to be brought with it: into
 * a folder beside it, DST_libs, as sbcast's --send-libs has it.
 *
 * The program's own loader names them, on this host.  The program itself is not
 * run, and its loader only if it is root's or the user's.
 */
#ifndef LAUNCHER_SESSION_LIBS_H
#define LAUNCHER_SESSION_LIBS_H

#include "launcher/base/step_env.h"
#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/error.h"

#include <stddef.h>

#define LIBS_MAX 4096u /* objects of a program */

struct libs {
    char destination[DESTINATION_MAX]; /* their folder */
    char **path; /* n, on this host; owned, see libs_clear(); all zero: none */
    size_t n, room;
};

/*
 * Those of a program that goes to this destination, but for what is in the
 * folders `exclude` ("/lib,/usr/lib", "none") and for the C library.  0 with
 * n = 0 if it needs no other.  -1 with err: it is no program (errno ENOEXEC
 * then), lacks one, or its loader fails.
 */
int libs_find(struct libs *l,
              const char *program,
              const char *destination,
              const char *exclude,
              struct es_error *err);
/*
 * Likewise of what may be no program, and put their folder behind list, "a:b".
 * 1: it is a program; 0: a folder, a script or data, so that l has none; -1 with
 * err.
 */
int libs_add(struct libs *l,
             char list[LIBS_LIST_MAX],
             const char *source,
             const char *destination,
             const char *exclude,
             struct es_error *err);
void libs_clear(struct libs *l);

#endif
