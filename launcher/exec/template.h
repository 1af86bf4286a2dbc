/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * template.h - the command line and environment of CMD for one slice.
 *
 * {begin} {end} {count} {frame} {slot} {label} {node} in its words are replaced,
 * and EVENSTEP_BEGIN, _END, _COUNT, _FRAME, _SLOT, _LABEL and _NODE are set.
 * Around these names, and around nothing, two braces are one that is kept:
 * {{end}} comes to {end}, {{{end}}} to the number in braces, {{}} to {}.
 * Any other text in braces stays as it is.
 */
#ifndef LAUNCHER_EXEC_TEMPLATE_H
#define LAUNCHER_EXEC_TEMPLATE_H

#include "launcher/wire/protocol.h"

/* A name, or nothing, with braces around it. */
struct template_braced {
    const char *name;
    size_t name_len;
    size_t before, pair; /* braces that have no partner, and pairs */
    size_t len;          /* of all, up to the last partner */
};

/* The bytes of a name that is in front of a '}' of a text, 0 for nothing; SIZE_MAX:
 * it is none. */
typedef size_t template_name_fn(const void *arg, const char *text);

/* Does a text begin with braces around a name, or nothing?  An odd number of pairs
 * means what is filled in, and of an even one half are kept.  Else b->len braces are
 * as they are. */
int template_braced(const char *text,
                    template_name_fn *length_of,
                    const void *arg,
                    struct template_braced *b);

/* The i-th field, as it is written in a word: "{begin}"; NULL behind the last.
 */
const char *template_field(size_t i);

/* The first field of a text that is filled in, as template_field() has it, and
 * where it begins in the text; NULL: there is none. */
const char *template_next(const char *text, const char **at);

/* Do the two halves of mark, as in "[[]]", differ from letters and braces, so
 * that fields may be written between them? */
int template_is_mark(const char *mark);

/*
 * The words of argv, whose fields are written between the halves of mark, with
 * these in braces, and what braces they have of their own kept.  The caller
 * frees them by template_free(); NULL if memory ran out.
 */
char **template_renamed(char *const argv[], const char *mark);

/*
 * The words of argv with their fields replaced; or the environment env with the
 * EVENSTEP_ variables of this slice in place of those of another.  The result
 * ends with NULL, and the caller frees it by template_free(); NULL if memory
 * ran out.
 */
char **template_argv(char *const argv[],
                     const struct msg_run *slice,
                     const char *node);
char **template_environ(char *const env[],
                        const struct msg_run *slice,
                        const char *node);
/* A copy of words; NULL if memory ran out. */
char **template_copy(char *const words[]);
/* Put NAME=VALUE into an environment that one of these made.  0, or -1 if
 * memory ran out: it is as it was. */
int template_put(char ***env, const char *entry);
void template_free(char **words);

#endif
