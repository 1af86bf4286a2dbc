/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_folder.h - --results DIR: a folder for each task, as GNU parallel has it, with
 * the files stdout, stderr and seq.
 *
 * The folder is called by the task's values, DIR/1/VALUE1/2/VALUE2, in which '/' is
 * \_ and a backslash, a tab are \\, \t; where a value is too long for the name of a
 * file, it is #SEQ.  Files of before are written over.
 */
#ifndef LAUNCHER_RUN_TASK_FOLDER_H
#define LAUNCHER_RUN_TASK_FOLDER_H

#include "launcher/exec/task_words.h"
#include "launcher/run/task_results.h"

/* Write those of the i-th task of the results, which is number seq, from 1; out has the
 * results' stdout.  0, or -1 with errno and path, the file that could not be written. */
int task_folder_write(const char *dir,
                      const struct task_record *record,
                      uint64_t seq,
                      const struct task_results *results,
                      size_t i,
                      char path[4096]);

#endif
