/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_export.h - `evenstep top --prometheus`: serves what all front ends have at
 * work (top_metrics.h), or keeps it in a file, until a signal comes.
 */
#ifndef LAUNCHER_COMMAND_TOP_EXPORT_H
#define LAUNCHER_COMMAND_TOP_EXPORT_H

#include "pmix_bcast/error.h"

#include <stdint.h>

/*
 * to: a port of 127.0.0.1, in digits (0: any that is free), where each GET of
 * /metrics is answered by how things are then; or a file, which is written
 * anew every 5 s and removed at the end.  job 0: of all jobs.  0, or -1.
 */
int top_export(const char *to, uint32_t job, struct es_error *err);

#endif
