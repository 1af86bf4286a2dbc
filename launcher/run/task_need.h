/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_need.h - what a line of a list says that the task behind it needs:
 *
 *   #EVENSTEP cpus=4 mem=2G gpus=1 time=10m
 *   #EVENSTEP exclusive time=1h
 */
#ifndef LAUNCHER_RUN_TASK_NEED_H
#define LAUNCHER_RUN_TASK_NEED_H

#include "pmix_bcast/error.h"
#include "policy/needs.h"

#include <stdio.h>

#define TASK_LINE_NEED "#EVENSTEP " /* begins it, and does not end with it */

/* What stands behind that, len bytes, goes into need, which may hold what lines before
 * have said.  0, or -1: fails with ES_USAGE; name and line are for the message. */
int task_need_parse(struct unit_need *need,
                    const char *text,
                    size_t len,
                    const char *name,
                    uint64_t line,
                    struct es_error *err);
/* Such a line, with its newline; ferror() says if it was written. */
void task_need_print(FILE *to, const struct unit_need *need);
/* It is more than the largest node has, see needs_can_be_met(): fills err, returns -1. */
int task_need_refuse(const struct unit_need *need,
                     const char *name,
                     const char *node,
                     const struct unit_need *has,
                     struct es_error *err);

#endif
