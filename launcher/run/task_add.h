/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_add.h - lines are added to a list of tasks that a run follows, or the list ends:
 * under a lock, so that several may do so at once, all or nothing.
 */
#ifndef LAUNCHER_RUN_TASK_ADD_H
#define LAUNCHER_RUN_TASK_ADD_H

#include "pmix_bcast/error.h"

/*
 * Append the lines of a file ("-": standard input, read to its end first; NULL: none) to
 * the list at path, a file or a named pipe, and, if it closes, the line that ends it.
 * Comments and blank lines are left out; a last line of the list without a newline gets
 * one.  Fails with ES_USAGE where a line is no task, or the list is not there or has
 * ended, and with ES_WORK where it cannot be written.
 */
int task_add(const char *path,
             const char *lines,
             int closes,
             struct es_error *err);

#endif
