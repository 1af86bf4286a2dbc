/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_words.h - a task: a record of its values, and the words of its command.
 *
 * A record is a line of text: the number of the line that the task comes from, or
 * nothing, and each value behind a tab.  In a value \t, \n and \\ stand for a tab, a
 * newline and a backslash.  All else is itself.
 *
 * Fields in the words of a command, as GNU parallel has them:
 *   {}                       the values of the task
 *   {1} {2} {-1}             one of them, from the end if negative; nothing if it lacks
 *   {.} {/} {//} {/.}        without extension, base name, folder, base name without
 *   {1.} {1/} {1//} {1/.}    extension; of all values, or of one
 *   {#} {%}                  the number of the task, and of its slot, from 1
 *   {begin} {end} {count} {frame} {slot} {label} {node}    as in template.h
 * Two braces are one that is kept, by the rules of template.h, also around nothing.
 * What stands behind a $ is the shell's and stays, but for ${}.
 */
#ifndef LAUNCHER_EXEC_TASK_WORDS_H
#define LAUNCHER_EXEC_TASK_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the kernel takes as one argument, with its NUL (MAX_ARG_STRLEN). */
#define TASK_WORD_MAX (128u << 10)

/* --- records -------------------------------------------------------------- */

struct task_record { /* all zero: none yet; the memory is used again */
    uint64_t line;   /* 0: it comes from none */
    size_t n;
    char **value; /* n of them, in the text of the record */
    size_t room;
};

/* Begin a record, add a value, end it; ferror() says if all was written. */
void task_record_begin(FILE *to, uint64_t line);
void task_record_value(FILE *to, const char *value, size_t len);
void task_record_end(FILE *to);

/* Read a record of len bytes without its newline, in place: the text is changed, and
 * text[len] becomes a NUL.  0, or -1 with errno: EINVAL is no record, ENOMEM. */
int task_record_parse(struct task_record *r, char *text, size_t len);
void task_record_free(struct task_record *r);

/* --- the words of a command ----------------------------------------------- */

struct task_place {
    uint64_t unit;  /* from 0 */
    uint64_t frame; /* likewise */
    uint64_t slot;  /* likewise */
    const char *label, *node;
};

enum {
    TASK_SHELL =
        1, /* one word, for sh -c: the values are quoted, the words not */
    TASK_REPEAT =
        2, /* a word in which {} stands comes once for each value (-N, -X);
                        else the values stand in it with a blank between */
};

/*
 * The words of the task, ended by NULL, in one block for free(3).  A word that is {}
 * and no more becomes as many words as there are values, and one that is {N} none if that
 * value lacks.  Where no word has a field,
 * the values follow as the last words.  With TASK_SHELL and without a word in cmd, the
 * values are the command, unquoted.
 * NULL with errno: ENOMEM, or E2BIG if a word would be of TASK_WORD_MAX or more.
 */
char **task_words(char *const cmd[],
                  const struct task_record *t,
                  const struct task_place *place,
                  unsigned how);

/* --- fields in a word, for those who look at a command -------------------- */

/* A name in braces, as template_braced() finds it. */
struct task_field {
    char kind; /* 'v': {N}; '*': {} and its parts; '#', '%', or of a name 'n' */
    long number;   /* of 'v', never 0 */
    size_t name;   /* which one, of 'n' */
    size_t digits; /* bytes of the number */
    size_t part;   /* of a value: 0 all, 1 ".", 2 "/", 3 "//", 4 "/." */
};

/* The bytes of a field's name in front of a '}', 0 for {}; SIZE_MAX: it is none.  f may
 * be NULL. */
size_t task_field_parse(const char *text, struct task_field *f);
/* Likewise of what may stand behind a column's name or number: "", "/", "/." ... */
size_t task_field_part(const char *text, size_t *part);

#endif
