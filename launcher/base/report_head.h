/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_head.h - what the first line of every report has as its "report":
 *
 *   {"format":2,"kind":"run","evenstep":"0.2.0","host":"login1",
 *    "written":1763856000,"job":12,"step":3}
 *
 * "written" is when the file was begun, in seconds since 1970; job and step are
 * there in a job.  The format is raised when a reader of today would misread
 * what is new; members may be added at any time.  Format 1 had no head.
 */
#ifndef LAUNCHER_BASE_REPORT_HEAD_H
#define LAUNCHER_BASE_REPORT_HEAD_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stdint.h>

#define REPORT_FORMAT 2

/* kind: run, step, bcast, probe or graph.  NULL if memory ran out. */
json_t *report_head(const char *kind, uint32_t job, uint32_t step);
/* May a line be read, if it is the first?  0, or -1 with ES_USAGE where its head
 * is none, or of a format that is not known here. */
int report_head_check(const json_t *line, struct es_error *err);

#endif
