/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_list.h - the tasks of a run, one record (task_words.h) each, from their
 * sources: all of them combined, the last one changing fastest, those that are linked
 * row by row up to the end of the shortest; in memory are the sources behind the
 * first, and not what they come to.
 */
#ifndef LAUNCHER_RUN_TASK_LIST_H
#define LAUNCHER_RUN_TASK_LIST_H

#include "launcher/run/task_source.h"

#include <stdio.h>

struct task_list;

/* Open the sources and look at their first rows; s must outlive it.  Waits for the
 * first line of standard input.  NULL: fails with ES_USAGE. */
struct task_list *task_list_open(const struct task_sources *s,
                                 struct es_error *err);
void task_list_close(struct task_list *l);
/* Values of a task, 0: any number (-X); and of each its name, "" for none, or NULL
 * where there are no names. */
size_t task_list_columns(const struct task_list *l);
char *const *task_list_names(const struct task_list *l);
/*
 * Write the records that there are.  need: the highest number of a field, see
 * task_fields.h; a row of a file that has fewer columns is refused.  0, or of what is
 * followed 1: call it again, with the same, when there may be more; *tasks is how
 * many there are so far, in all.  Fails with
 * ES_USAGE, also where there is no task at all in what is not followed, or ES_WORK
 * where `to` cannot be written, or what is followed is no more what it was.
 */
int task_list_write(struct task_list *l,
                    size_t need,
                    FILE *to,
                    uint64_t *tasks,
                    struct es_error *err);
/* Of the tasks that were written, before which ones a barrier stands: ascending, the first never. */
const uint64_t *task_list_barriers(const struct task_list *l, size_t *n);
/* Likewise what lines have said that tasks need; grows with them, the list's. */
const struct need_list *task_list_needs(const struct task_list *l);
/* check() is asked of each of these, now and before another one comes: -1, and why in
 * err, if it cannot be; name is of the file.  0, or -1. */
typedef int task_need_check(void *arg,
                            const char *name,
                            const struct unit_need *need,
                            struct es_error *err);
int task_list_check_needs(struct task_list *l,
                          task_need_check *check,
                          void *arg,
                          struct es_error *err);
/* What to wait for, see task_reader_pipe(). */
int task_list_pipe(const struct task_list *l);

#endif
