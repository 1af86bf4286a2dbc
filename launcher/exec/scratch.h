/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scratch.h - a new and empty folder for each slice: --workdir tmp.
 *
 *   TMPDIR or /tmp/evenstep-run-UID-PID-NODE/    0700, locked (own_folder.h)
 *       ID                                       where the command of a slice runs
 */
#ifndef LAUNCHER_EXEC_SCRATCH_H
#define LAUNCHER_EXEC_SCRATCH_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

#define SCRATCH_PATH_MAX 4096 /* bytes of a path */

struct scratch { /* all zero: there is none */
    int fd;
    char path[SCRATCH_PATH_MAX];
};

/* Make the folder of a slice, and what it is in if that is not there; path gets
 * its name.  Fails with ES_ENV. */
int scratch_begin(struct scratch *s,
                  const char *node,
                  uint64_t id,
                  char path[SCRATCH_PATH_MAX],
                  struct es_error *err);
/* Remove it with all that is in it. */
void scratch_end(const struct scratch *s, uint64_t id);
/* Remove all. */
void scratch_close(struct scratch *s);

#endif
