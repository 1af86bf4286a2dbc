/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * joblog_show.h - what a job log tells (--joblog of evenstep, or of GNU parallel): how
 * many tasks there were, which failed, the slowest ones, and how long they took.
 */
#ifndef LAUNCHER_WHATIF_JOBLOG_SHOW_H
#define LAUNCHER_WHATIF_JOBLOG_SHOW_H

#include "pmix_bcast/error.h"

#include <stdio.h>

/* Does the regular file begin as a job log? */
int joblog_is(const char *path);
/* Read and print it.  0, or -1 with err. */
int joblog_show(FILE *out, const char *path, struct es_error *err);

#endif
