/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grammar.h - what every file that libconfuse reads for us has: keys whose values
 * are checked while the line is known, and one line that says what is wrong.
 */
#ifndef LAUNCHER_CONFIG_GRAMMAR_H
#define LAUNCHER_CONFIG_GRAMMAR_H

#include "pmix_bcast/error.h"

#include <confuse.h>
#include <stddef.h>

/* A whole number that was not given; any other is NaN then, a text NULL. */
#define NOT_GIVEN (-1)

/* How to mend a key that there is not. */
extern const char grammar_see[];

/* For a check, which libconfuse calls for each value: the file's error becomes
 * "FILE:LINE: what fmt says".  Returns -1, for the check to return. */
__attribute__((format(printf, 3, 4))) int grammar_refuse(const cfg_t *cfg,
                                                         const char *mend,
                                                         const char *fmt,
                                                         ...);
/* 1 to size - 1 of a-z, 0-9, - and _. */
int grammar_is_name(const char *text, size_t size);

/* Keys: any with that check; a text, a whole number, a number; a section of
 * keys; one of many sections, each with a title of its own; and the last key of
 * every file.  name and keys must outlive cfg_init(). */
cfg_opt_t grammar_key(cfg_opt_t key, cfg_validate_callback_t check);
cfg_opt_t grammar_text(const char *name, cfg_validate_callback_t check);
cfg_opt_t grammar_whole(const char *name, cfg_validate_callback_t check);
cfg_opt_t grammar_number(const char *name, cfg_validate_callback_t check);
cfg_opt_t grammar_section(const char *name, cfg_opt_t *keys);
cfg_opt_t grammar_titled(const char *name,
                         cfg_opt_t *keys,
                         cfg_validate_callback_t check);
cfg_opt_t grammar_end(void);

/* The text by this grammar, which is taken over (NULL: memory ran out), for
 * cfg_free().  Else NULL, and ES_USAGE that names file (name), line, key and what
 * is allowed. */
cfg_t *grammar_parse(cfg_t *cfg,
                     const char *name,
                     const char *text,
                     struct es_error *err);
/* If that was because of a key that there is not: the key, and its line; else "".
 * Valid until the next text is parsed by this thread. */
const char *grammar_unknown(int *line);

#endif
