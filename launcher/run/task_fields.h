/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_fields.h - the fields in the command of tasks, as it is typed: those that there
 * cannot be are refused, and names of columns become their numbers, so that
 * task_words() fills in all that is left.
 *
 * In the texts of programs (command_fields_is_text()) a field that there cannot be is
 * the program's own, and stays.
 */
#ifndef LAUNCHER_RUN_TASK_FIELDS_H
#define LAUNCHER_RUN_TASK_FIELDS_H

#include "pmix_bcast/error.h"

#include <stddef.h>

struct task_fields {
    size_t need; /* the highest number of a value that is used */
    int any;     /* there is a field */
    const char
        *quoted; /* with --shell: a word in which a value stands in quotes,
                           though it is quoted anyway; NULL: none */
    const char
        *text; /* else: a program's text into which a value is put, as it is;
                           NULL: none */
    const char
        *left; /* a word in braces in it, as {foo}, looks like a field, and is
                           left as it is, as columns have no names; NULL: none */
};

/*
 * columns, names: as task_list.h has them.  shell: the words are typed for a shell.
 * Returns the words as task_words() takes them, for template_free(); NULL: fails with
 * ES_USAGE.
 */
char **task_fields_settle(char *const cmd[],
                          size_t columns,
                          char *const names[],
                          int shell,
                          struct task_fields *f,
                          struct es_error *err);

#endif
